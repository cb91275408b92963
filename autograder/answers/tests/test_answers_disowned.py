"""An answer that its writer strikes out, denies as a whole, or reports as somebody else's is not released as his."""

import pytest

from autograder.answers import score_slot
from autograder.answers.disowned import disowned
from autograder.answers.gate import gate
from autograder.answers.normalise import normalise

RIGHT = {
    "zh": "beta 为 0 时调用方可能没有分配 C，传的是空指针，无条件读它会访问非法地址，kernel 以 cudaErrorIllegalAddress 结束。C 里若有 NaN，0*NaN 还是 NaN，会污染 D。",
    "en": "When beta is 0 the caller may pass a null pointer for C, so an unconditional load hits an illegal address and the kernel fails. If C holds NaN, 0 * NaN is NaN, and D is polluted.",
}

DENIED = [
    ("zh", "以下说法都是错的：{}"),
    ("zh", "{}以上全部是错误的说法。"),
    ("zh", "下面这些没有一句是对的：{}"),
    ("zh", "{}（以上纯属瞎编）"),
    ("zh", "我同学写的是“{}”，我不同意。"),
    ("zh", "事实正好相反：{}"),
    ("zh", "{}把上面的话全部反过来才对。"),
    ("en", "{} All of the above is wrong."),
    ("en", "The following statements are all false: {}"),
    ("en", "None of the following is true: {}"),
    ("en", "{} I disagree with all of this."),
    ("en", "Everything I wrote here is nonsense. {}"),
    ("en", "Here are some wrong claims: {}"),
    ("en", 'My classmate wrote: "{}"'),
]


@pytest.mark.parametrize(("lang", "frame"), DENIED)
def test_a_whole_answer_taken_back_waits_for_a_person(rubric, lang, frame):
    assert score_slot("q2", rubric, RIGHT[lang], lang).points > 0
    assert score_slot("q2", rubric, frame.format(RIGHT[lang]), lang).lane == "review"


@pytest.mark.parametrize(
    "text",
    [
        "以上两点都是正确性问题，下面说性能：多读 M*N 个元素。",
        "如果 C 里全是 NaN，结果就是错的。",
        "以下分别说明正确性和性能。",
        "有人说乘以 0 就没事了，这是错的：0*NaN = NaN。",
        "I agree that the guard must test beta, and the following shows why.",
        "Without the guard everything in D is wrong, because NaN spreads.",
        "The following happens: the load faults and the result is wrong.",
        "My classmate said that zero times anything is zero, but 0 * NaN is NaN, so D becomes NaN and the whole result is lost.",
        "相反，K 很大时损失很小。",
    ],
)
def test_honest_text_is_left_alone(text):
    assert disowned(normalise(text)) == []


@pytest.mark.parametrize("frame", ["~~{}~~", "<del>{}</del>", "<s>{}</s>", "<STRIKE>{}", "- ~~{}~~"])
def test_struck_out_text_earns_nothing(rubric, frame):
    answer = frame.format(RIGHT["en"])
    found = score_slot("q2", rubric, answer, "en")
    assert found.points == 0 and found.links == []
    assert found.discarded and all(q in answer for q in found.discarded)


def test_what_stands_beside_struck_out_text_counts(rubric):
    plain = score_slot("q2", rubric, RIGHT["en"], "en")
    mended = score_slot("q2", rubric, "~~C is harmless when beta is 0.~~ " + RIGHT["en"], "en")
    assert mended.points == plain.points and {x.id for x in mended.links} == {x.id for x in plain.links}


@pytest.mark.parametrize("text", ["a ~~ b ~~ c", "x ~~~ y", r"\~~kept\~~", "~~~\ncode\n~~~"])
def test_tildes_that_strike_nothing(text):
    assert "struck" not in gate(text).kinds


@pytest.mark.parametrize("style", ['<span style="color: white">', "<font color=white>", '<p style="color:rgb(255, 255, 255)">', '<b style="color:#FFF">'])
def test_white_text_is_hidden(style):
    tag = style[1:].split()[0]
    g = gate(f"{style}{RIGHT['en']}</{tag}> visible words that say nothing")
    assert "hidden_text" in g.review and "illegal" not in g.normal.text


def test_a_white_background_hides_nothing():
    assert "illegal" in gate(f'<p style="background-color: white">{RIGHT["en"]}</p>').normal.text
