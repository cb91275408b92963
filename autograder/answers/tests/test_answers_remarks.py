"""Remarks that take an answer back wait for a person, in words that nobody listed; honest answers mostly do not."""

import pytest

from autograder.answers.normalise import normalise
from autograder.answers.remarks import remark
from autograder.answers.score import score_slot

RIGHT = {
    "zh": "没有初始化的内存里可能是 NaN，0 乘 NaN 还是 NaN，于是 D 被污染。C 是空指针时，读它就是非法访问，之后的 CUDA 调用都报同一个错误。",
    "en": "Memory that nobody initialised may hold NaN, and 0 * NaN is NaN, so D is polluted. If C is a null pointer, reading it is an illegal access and every later call fails.",
}


@pytest.mark.parametrize(
    "frame", ["错误示范：{}", "{}以上皆非。", "{}\n\n一派胡言。", "{}骗你的。", "判断题：{}答：错。"]
)
def test_a_chinese_answer_that_is_taken_back(frame):
    assert remark(normalise(frame.format(RIGHT["zh"])).text)


@pytest.mark.parametrize("frame", ["Bad example: {}", "{}\n\nNot a word of it is so.", "I doubt that {}"])
def test_an_english_answer_that_is_taken_back(frame):
    assert remark(normalise(frame.format(RIGHT["en"])).text)


def test_the_person_is_shown_the_remark(rubric):
    score = score_slot("q2", rubric, "错误示范：" + RIGHT["zh"], "en")
    assert score.lane == "review" and any("错误示范" in r for r in score.reasons)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_an_honest_answer_has_no_remark(lang):
    assert remark(normalise(RIGHT[lang]).text) is None


@pytest.mark.parametrize("text", ["", " ", "。", "a", "!!!"])
def test_next_to_nothing(text):
    remark(text)
