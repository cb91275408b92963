"""What no rule has read is not released: remarks about the answer itself, words turned round, a known mistake beside the credit."""

import re

import pytest

from autograder.answers import score_slot
from autograder.answers.score import scorer
from autograder.answers.tests.test_answers_disowned import RIGHT

# Ways to take an answer back, ask it, joke about it or give it to somebody else: found by someone who had not seen the readers.
FRAMES = [
    ("en", "Myth: {}"),
    ("en", "False: {}"),
    ("en", "Bad answer:\n{}"),
    ("en", "[withdrawn] {}"),
    ("en", "❌ {}"),
    ("en", "* ❌ {}"),
    ("en", "{} 👎"),
    ("en", "{} /s"),
    ("en", "{} ... said nobody ever."),
    ("en", "{}\n\nLies!"),
    ("en", "{}\n\nWrong!"),
    ("en", "{}\nnope"),
    ("en", "{}\n\nEDIT: all wrong, sorry."),
    ("en", "{}\n\n(none of it)"),
    ("en", "{} Or is it not?"),
    ("en", "I doubt that {}"),
    ("en", "I deny that {}"),
    ("en", "Nobody should write the following. {}"),
    ("en", "There is a legend. {} End of the legend."),
    ("en", "True or false? {}\nFalse."),
    ("en", "On AMD: {}"),
    ("en", "{}\nHowever, none of this applies to GPUs."),
    ("en", "{}\n\nActually no, scratch that, it's the other way around."),
    ("zh", "典型错误：{}"),
    ("zh", "假的：{}"),
    ("zh", "× {}"),
    ("zh", "判断：{}（×）"),
    ("zh", "{}以上作废。"),
    ("zh", "{}\n\n全错。"),
    ("zh", "{}\n\n才怪。"),
    ("zh", "{}\n\n骗你的。"),
    ("zh", "{}\n\n事实并非如此。"),
    ("zh", "{}对吗？"),
    ("zh", "难道{}"),
    ("zh", "我怀疑{}"),
    ("zh", "草稿（不要看）：{}"),
    ("zh", "判断题：{}答：错。"),
    ("zh", "CPU上是这样：{}GPU上不是。"),
    ("zh", "{}\n\n请把每句话都反过来理解。"),
]


@pytest.mark.parametrize(("lang", "frame"), FRAMES)
def test_a_frame_round_a_right_answer_waits_for_a_person(rubric, lang, frame):
    assert score_slot("q2", rubric, RIGHT[lang], lang).lane == "auto"
    framed = score_slot("q2", rubric, frame.format(RIGHT[lang]), lang)
    assert framed.lane == "review" or framed.points == 0


@pytest.mark.parametrize(
    ("lang", "plain"),
    [
        ("en", "Static review only. {}"),
        ("en", "{} I ran it on the emulator, no GPU."),
        ("en", "Correctness: {}"),
        ("en", "Hello,\n\n{}\n\nThanks"),
        ("en", "(a) {}"),
        ("en", "Why does it fail? {}"),
        ("zh", "正确性：{}"),
        ("zh", "老师好！{}谢谢老师。"),
        ("zh", "{}只做了静态审查，没有运行。"),
        ("zh", "为什么会出错？{}"),
        ("zh", "1. {}"),
        ("zh", "先说正确性。{}"),
        ("zh", "💡 {} ✅"),
        ("zh", "{}\n\n—— 王小明 2023012345"),
        ("zh", "{}\n\n参考：[PTX ISA](https://example.org/ptx)"),
        ("zh", "* 要点\n  * {}"),
        ("zh", "解释：{}"),
        ("en", "{}\n\n-- Jane Doe, 12345"),
        ("en", "{}\n\nSee [PTX ISA](https://example.org/ptx)."),
        ("en", "EXPLANATION: {}"),
        ("en", "| no | text |\n| --- | --- |\n| 1 | {} |"),
    ],
)
def test_plain_remarks_change_nothing(rubric, lang, plain):
    alone, beside = (score_slot("q2", rubric, text, lang) for text in (RIGHT[lang], plain.format(RIGHT[lang])))
    assert (beside.lane, beside.points) == ("auto", alone.points)


@pytest.mark.parametrize(
    ("slot", "lang", "right", "turned"),
    [
        ("q2", "en", "Every output element costs an additional read that is never used.", "Every output element costs an additional write that is never used."),
        ("q2", "zh", "BLAS 规定 beta 为 0 时不读 C。", "BLAS 规定 beta 为 0 时不写 C。"),
        ("q3", "zh", "整行 softmax 要用到一行的最大值与总和。", "整行 softmax 要用到一行的最小值与总和。"),
        ("q3", "en", "For split-K the parts must be added before the activation is applied.", "For split-K the parts must be added after the activation is applied."),
    ],
)
def test_what_says_the_opposite_of_the_rubric_is_seen(rubric, slot, lang, right, turned):
    said = [scorer(rubric).vouched(slot).turned(r.gate.normal, r.sents) for r in (scorer(rubric)._read(slot, t, "") for t in (right, turned))]
    assert said[0] == "" and said[1]


def test_nothing_that_a_rubric_vouches_for_is_turned(rubric):
    """Its own statements, exemplars and reference answers, one by one."""
    ready = scorer(rubric)
    for name, slot in rubric.slots.items():
        for link in slot.links:
            for lang in ("zh", "en"):
                for text in (*link.exemplars.get(lang), link.effect.get(lang)):
                    read = ready._read(name, text, "")
                    assert ready.vouched(name).turned(read.gate.normal, read.sents) == "", text


@pytest.mark.parametrize(
    ("lang", "beside"),
    [
        ("zh", "這是我昨天在宿舍寫的，我的 GPU 很舊！"),
        ("zh", "我的 H100 很忙，ＡＢＣ 也很忙。"),
        ("en", "My Cat sleeps ON the H100’s box."),
        ("en", "Truth of the **Above** “Text”: NO."),
        ("en", "Nobody should write the **Above** text – EVER."),
    ],
)
def test_what_is_quoted_to_a_person_is_what_the_student_wrote(rubric, lang, beside):
    """Not its canonical form, in which it was read."""
    text = f"{RIGHT[lang]}\n\n{beside}"
    scored = score_slot("q2", rubric, text, lang, reasons_lang="en")
    quotes = [q for r in scored.reasons for q in re.findall(r': "(.*)"$', r, re.S)]
    assert quotes and all(q in text for q in quotes), quotes


def test_a_clause_turned_round_is_quoted_as_written(rubric):
    for written in ("Every output element costs an additional WRITE that is never used.", "BLAS 規定 beta 為 0 時不寫 C。"):
        read = scorer(rubric)._read("q2", written, "")
        said = scorer(rubric).vouched("q2").turned(read.gate.normal, read.sents)
        assert said and said in written


def test_a_known_mistake_beside_the_credit_waits(rubric):
    """A student who says both has said neither; the lesson's own misconceptions, in its own words."""
    for lang in ("zh", "en"):
        for m in rubric.slots["q2"].misconceptions:
            both = score_slot("q2", rubric, f"{RIGHT[lang]}\n\n{m.says.get(lang)}", lang)
            vetoed = any(x.veto and x.sure for x in both.misconceptions)
            assert both.lane == "review" or vetoed or both.points == 0, m.id


def test_readers_beside_the_rules_move_no_points(rubric, monkeypatch):
    from autograder.answers import score

    framed = [frame.format(RIGHT[lang]) for lang, frame in FRAMES]
    with_them = [score_slot("q2", rubric, text, "zh").points for text in framed]
    monkeypatch.setattr(score, "aside", lambda *_: None)
    assert with_them == [score_slot("q2", rubric, text, "zh").points for text in framed]


TAKEN = {"zh": "0 乘任何数都得 0，所以正确性没有问题，只是浪费带宽", "en": "With beta zero the product is zero so reading C cannot change the result"}


def test_a_misconception_that_is_called_one_is_no_veto(rubric):
    says = rubric.slots["q2"].misconceptions[0]
    assert says.veto and TAKEN["zh"] in says.exemplars.zh and TAKEN["en"] in says.exemplars.en
    for lang, frame in (("en", "Myth: {}"), ("zh", "错误示范：{}"), ("en", "❌ {}"), ("zh", "{}才怪。")):
        score = score_slot("q2", rubric, frame.format(TAKEN[lang]), lang)
        assert not any(m.veto and m.sure for m in score.misconceptions), frame
    plain = score_slot("q2", rubric, TAKEN["zh"], "zh")
    assert any(m.veto and m.sure for m in plain.misconceptions)


def test_part_of_the_points_is_not_released_beside_much_unread_text(rubric):
    """One link found in a long answer about the question: there may be more in it than the rules know."""
    one = RIGHT["en"].split(". ")[0] + "."
    more = " If C happens to be allocated the load succeeds, and which value it brings depends on whatever wrote that buffer last, so the outcome of D would change from call to call."
    assert score_slot("q2", rubric, one, "en").lane == "auto"
    both = score_slot("q2", rubric, one + more, "en")
    assert both.points == score_slot("q2", rubric, one, "en").points == 1 and both.lane == "review"
