"""Filler, chatter, a new order: a copy stays a copy. A student's own words with the terms of the subject are none."""

import re

import pytest

from autograder.answers.copied import copied, sources
from autograder.answers.labelled import read_labelled
from autograder.answers.normalise import normalise
from autograder.answers.score import score_slot
from autograder.lesson import list_lessons
from autograder.lesson.model import ANSWER_SLOTS
from autograder.lesson.rubric import load_rubric

CHATTER = {
    "zh": "\n以上是我课后自己整理的笔记，写之前复习了一遍讲义，也和小组同学讨论过几次，最后我在图书馆里花了一个晚上把它写成了现在的样子。",
    "en": "\nI put this together after the lecture, had a look at the slides of the course, which were a help, and went home by bus and had dinner.",
}


def with_filler(text, lang):
    if lang == "en":
        return " ".join(w + " basically" * (i % 5 == 4) for i, w in enumerate(text.split(" ")))
    return re.sub(r"((?:[\u4e00-\u9fff][^\u4e00-\u9fff]*){5})", r"\1呢", text)


def without_words(text, lang):
    if lang == "en":
        return " ".join(w for i, w in enumerate(text.split(" ")) if i % 6)
    return re.sub(r"((?:[\u4e00-\u9fff][^\u4e00-\u9fff]*){5})[\u4e00-\u9fff]", r"\1", text)


WAYS = {
    "plain": lambda text, lang: text,
    "filler": with_filler,
    "words left out": without_words,
    "backwards": lambda text, lang: ("" if lang == "zh" else " ").join(
        reversed(re.split(r"(?<=[。；])|(?<=\.) ", text))
    ),
    "half": lambda text, lang: text[: len(text) // 2],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_the_reference_is_seen_however_it_is_dressed(way):
    unseen = []
    for folder in list_lessons():
        rubric = load_rubric(folder / "rubric.yml")
        for slot in ANSWER_SLOTS:
            for lang in ("zh", "en"):
                text = normalise(WAYS[way](rubric.slots[slot].reference.get(lang), lang)).text
                if not copied(text, sources(rubric, slot, "")["reference"]):
                    unseen.append((folder.name, slot, lang))
    assert unseen == []


def test_chatter_does_not_dilute(rubric):
    for lang in ("zh", "en"):
        reference = rubric.slots["q2"].reference.get(lang)
        assert copied(normalise(reference[: len(reference) // 2] + 2 * CHATTER[lang]).text, reference)


def test_a_hint_handed_in_waits_for_a_person():
    for number in (2, 7, 8):
        rubric = load_rubric(list_lessons()[number - 1] / "rubric.yml")
        for lang in ("zh", "en"):
            score = score_slot("explanation", rubric, rubric.hints[3].get(lang), lang)
            assert score.points == 0 or score.lane == "review"
    rubric = load_rubric(list_lessons()[0] / "rubric.yml")
    hint = next(x for x in rubric.slots["q2"].links if x.id == "q2.count_level").hint.zh
    score = score_slot("q2", rubric, hint, "zh")
    assert score.points == 0 or score.lane == "review"


def test_the_lesson_is_a_source_when_it_is_given(rubric):
    text = "The caller of a kernel need not own a matrix C at all, and a pointer that is null is then as good as any other."
    assert copied(
        normalise(text.replace(" at all", "")).text, f"Something before it.\n\n{text}\n\nSomething behind it."
    )
    assert copied(normalise(" ".join(text.split()[4:20])).text, text) and not copied(
        normalise("A kernel need not own C: its pointer is null.").text, text
    )
    assert "lesson" in sources(rubric, "q2", text) and "lesson" not in sources(rubric, "q2", "")


@pytest.mark.parametrize(
    "slot, answer",
    [
        ("q2", "beta 为 0 时 C 可能是空指针，读了就非法访问，程序直接退出；没初始化的内存里要是 NaN，0*NaN 还是 NaN。"),
        (
            "q2",
            "If nobody allocated C the pointer is null and the kernel dies of an illegal address; the extra read costs bandwidth too.",
        ),
        ("explanation", "beta 为 0 就只返回 alpha*acc，c 根本不碰，所以 c 是 None 也没事。"),
    ],
)
def test_own_words_with_the_terms_of_the_subject_are_no_copy(rubric, slot, answer):
    assert not any(copied(normalise(answer).text, s) for s in sources(rubric, slot, "").values())


def test_most_labelled_answers_are_no_copies():
    """They are honest, and written by people who know the subject."""
    taken = []
    for folder in list_lessons():
        rubric = load_rubric(folder / "rubric.yml")
        for row in read_labelled(folder / "answers.jsonl")[::5]:
            if row.gold(rubric.slots[row.slot]).points and any(
                copied(normalise(row.answer).text, s) for s in sources(rubric, row.slot, "").values()
            ):
                taken.append((folder.name, row.id))
    assert taken == []
