"""Segmentation, negation, refutation, doubt."""

import pytest

from autograder.answers.normalise import Span, normalise
from autograder.answers.polarity import denied, stance
from autograder.answers.segment import sentences


def clauses(answer):
    n = normalise(answer)
    return [[n.text[c.start : c.end].strip(" ,。.;(") for c in s.clauses] for s in sentences(n)]


@pytest.mark.parametrize(
    "answer, parts",
    [
        ("如果 C 为空，会出错；而且浪费带宽。", [["如果 c 为空", "会出错"], ["而且浪费带宽"]]),
        ("It faults (e.g. on null). It costs 1.43x time because traffic grows.", [["it faults", "e.g. on null)"], ["it costs 1.43x time", "because traffic grows"]]),
        ("1. 第一\n2. 第二", [["第一"], ["第二"]]),
        ("See fig. 3. Next.", [["see fig. 3"], ["next"]]),
        ("结果是 0.5.所以", [["结果是 0.5"], ["所以"]]),
        ("。。。", []),
    ],
)
def test_sentences_and_clauses(answer, parts):
    assert clauses(answer) == parts


def read(answer, word):
    """(denied, refuted, doubtful) of the last place where `word` stands."""
    text = normalise(answer).text
    sents = sentences(text)
    where = stance(text, sents)
    at = text.rindex(word)
    match = Span(at, at + len(word))
    clause = next(c for s in sents for c in s.clauses if c.start <= at < c.end)
    return denied(text, clause, match), where.refutes(match), where.doubts(match)


@pytest.mark.parametrize(
    "answer, word",
    [
        ("读 C 不会崩溃", "崩溃"),
        ("不会导致崩溃", "崩溃"),
        ("空指针崩溃不会发生", "崩溃"),
        ("省不了一次读写", "读写"),
        ("It does not crash", "crash"),
        ("no crash happens", "crash"),
        ("a crash cannot occur", "crash"),
        ("no extra bandwidth is wasted", "wasted"),
        ("It never leads to a crash", "crash"),
        ("without a crash", "crash"),
        ("It doesn't avoid memory traffic", "avoid memory traffic"),
        ("Narrow inputs do not reduce traffic and do not raise throughput", "throughput"),
    ],
)
def test_denied(answer, word):
    assert read(answer, word)[0]


@pytest.mark.parametrize(
    "answer, word",
    [
        ("没有守卫就会崩溃", "崩溃"),
        ("没有守卫会导致崩溃", "崩溃"),
        ("不加判断直接读会崩溃", "崩溃"),
        ("不可避免地崩溃", "崩溃"),
        ("不能避免崩溃", "崩溃"),
        ("避免了崩溃", "崩溃"),
        ("不仅崩溃", "崩溃"),
        ("不得读 c", "读 c"),
        ("并非不会崩溃", "崩溃"),
        ("没有初始化的 C 会崩溃", "崩溃"),
        ("beta 不为 0 时崩溃", "崩溃"),
        ("没有守卫的版本返回 nan", "返回 nan"),
        ("Without the guard the kernel will crash", "crash"),
        ("without the guard computes nan", "nan"),
        ("You must not read C or it will crash", "read c"),
        ("It can't avoid a crash", "crash"),
        ("not only does it crash", "crash"),
        ("you read values you don't need and a kernel gets slower", "slower"),
    ],
)
def test_asserted(answer, word):
    assert read(answer, word) == (False, False, False)


@pytest.mark.parametrize(
    "answer, word",
    [
        ("有人说会崩溃，这是错的", "崩溃"),
        ("有人认为不会崩溃。这是错的。", "崩溃"),
        ("有人认为会崩溃，但其实乘 0 就没事", "崩溃"),
        ("X 会崩溃的说法是错误的", "崩溃"),
        ("常见误解：一定崩溃", "崩溃"),
        ("并不是说会崩溃", "崩溃"),
        ("It is wrong to think that it will crash", "crash"),
        ("People say it will crash. That is wrong.", "crash"),
        ("The claim that it will crash is false.", "crash"),
        ("Do not assume it will crash", "crash"),
    ],
)
def test_refuted(answer, word):
    assert read(answer, word)[1]


@pytest.mark.parametrize(
    "answer, word",
    [
        ("有人认为乘 0 就没事，但其实会崩溃", "崩溃"),
        ("有同学觉得不用判断，这不对。没有守卫会崩溃", "崩溃"),
        ("It is wrong to think that 0 saves you, because it will crash", "crash"),
        ("我认为会崩溃，因为没有守卫", "崩溃"),
        ("I think it will crash because nothing checks the pointer", "crash"),
        ("结果会是错误的值", "错误"),
        ("对结果没有影响这一点无所谓，会崩溃", "崩溃"),
    ],
)
def test_what_follows_a_refutation_is_asserted(answer, word):
    assert read(answer, word)[1:] == (False, False)


@pytest.mark.parametrize("answer, word", [("会崩溃吗？", "崩溃"), ("I guess it will crash", "crash"), ("有人说会崩溃", "崩溃"), ("大概吧，会崩溃", "崩溃"), ("会崩溃，这是错的", "崩溃")])
def test_doubtful(answer, word):
    assert read(answer, word)[2]


def test_unknown_is_not_doubt_when_a_thing_does_not_know():
    assert not read("单个 CTA 不知道整行，会算错", "算错")[2]


@pytest.mark.parametrize(
    ("answer", "refuted"),
    [
        ("It is not true that arriving alone is enough: the barrier also counts bytes.", "it is not true that arriving alone is enough"),
        ("并不是说只要到达就行：还要等字节落地。", "并不是说只要到达就行"),
        ('It is wrong to think "c is zero": the read faults.', 'it is wrong to think "c is zero"'),
    ],
)
def test_what_follows_the_colon_of_a_refutation_is_the_writers_own(answer, refuted):
    normal = normalise(answer)
    spans = stance(normal.text, sentences(normal)).refuted
    assert [normal.text[s.start : s.end] for s in spans] == [refuted]


def test_expecting_bytes_is_no_hearsay():
    normal = normalise("If you expect too much, the phase never completes and the kernel hangs.")
    assert stance(normal.text, sentences(normal)).doubtful == ()
