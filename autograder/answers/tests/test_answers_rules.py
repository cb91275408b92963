import time

import pytest

from autograder.answers.normalise import normalise
from autograder.answers.polarity import stance
from autograder.answers.rules import CompiledPattern, Written, _bounded, phrase, read
from autograder.answers.segment import sentences
from autograder.lesson.rubric import Pattern

NULL = Pattern(zh=[["空指针"], ["崩溃", "re:非法.{0,4}地址"]], en=[["null pointer"], ["crash", "re:illegal address"]])


def reading(answer, *patterns, terms=None):
    normal = normalise(answer)
    sents = sentences(normal)
    found = read([CompiledPattern(p, terms or {}) for p in patterns], Written(normal, sents, stance(normal.text, sents)))
    return found, normal.quote(found.hit.span.start, found.hit.span.end) if found.hit else ""


@pytest.mark.parametrize(
    "answer, quote",
    [
        ("空指针会崩溃。", "空指针会崩溃。"),
        ("先说别的。C 是空指针，读取会访问非法的地址，很糟。", "C 是空指针，读取会访问非法的地址，"),
        ("C may be a null pointer. Reading it crashes.", "C may be a null pointer. Reading it crashes."),
        ("如果是 null pointer，kernel 就会崩溃", "如果是 null pointer，kernel 就会崩溃"),
        ("Null-pointers lead to a crash", "Null-pointers lead to a crash"),
    ],
)
def test_a_link_needs_cause_and_effect_and_quotes_them(answer, quote):
    found, said = reading(answer, NULL)
    assert said == quote and found.part == 1.0


@pytest.mark.parametrize("answer", ["空指针。", "会崩溃。", "空指针不会崩溃。", "有人说空指针会崩溃，这是错的。", "空指针会崩溃吗？", "It is wrong to think that a null pointer will crash."])
def test_a_half_or_a_denial_is_no_link(answer):
    assert reading(answer, NULL)[0].hit is None


def test_a_denial_is_told_from_an_absence():
    assert reading("空指针不会崩溃。", NULL)[0].contradicted
    assert not reading("空指针很常见。", NULL)[0].contradicted
    assert reading("空指针会崩溃。但空指针不会崩溃。", NULL)[0].contradicted
    assert not reading("有人说空指针不会崩溃，这是错的。空指针会崩溃。", NULL)[0].contradicted


def test_windows():
    apart = "空指针很常见。这里讲点别的，内容不少。再讲一点别的东西，也不少。最后会崩溃。"
    assert reading(apart, NULL)[0].hit is None
    two = "C 是空指针。会崩溃。"
    assert reading(two, NULL)[0].hit
    assert reading(two, NULL.model_copy(update={"window": "sentence"}))[0].hit is None
    one = "C 是空指针，会崩溃。"
    assert reading(one, NULL.model_copy(update={"window": "sentence"}))[0].hit
    assert reading(one, NULL.model_copy(update={"window": "clause"}))[0].hit is None


def test_unless_cancels_and_topic_survives_a_denial():
    p = Pattern(zh=[["融合"], ["更快"]], unless=["逐元素"])
    assert reading("融合总是更快。", p)[0].hit
    assert reading("逐元素的融合总是更快。", p)[0].hit is None
    topic = Pattern(zh=[["~", "判断 c"], ["出错"]])
    assert reading("不能判断 c，否则会出错", topic)[0].hit
    assert reading("不能判断 c，否则会出错", Pattern(zh=[["判断 c"], ["出错"]]))[0].hit is None


def test_terms_stand_for_alternatives():
    terms = {"zero": ["re:0|零", "zero"]}
    p = Pattern(zh=[["re:beta=(?:@zero)"], ["@zero"]])
    assert reading("beta=0 就是零", p, terms=terms)[0].hit


def test_negation_inside_an_alternative_belongs_to_the_statement():
    p = Pattern(zh=[["cta"], ["re:看不到整行"]])
    assert reading("一个 CTA 看不到整行", p)[0].hit


@pytest.mark.parametrize(
    "plain, yes, no",
    [
        ("waste", ["waste", "wastes", "wasted", "wasting"], ["wastebin"]),
        ("stop", ["stop", "stops", "stopped", "stopping"], ["stopgap"]),
        ("memory bound", ["memory bound", "memory-bound", "memory_bound"], ["memorybound"]),
        ("copy", ["copy", "copies", "copied", "copying"], ["copyright"]),
        ("load C", ["load c", "loads c"], ["load cc", "upload c"]),
        ("1.5 倍", ["1.5倍", "1.5 倍"], ["11.5 倍", "1.55 倍"]),
    ],
)
def test_phrases(plain, yes, no):
    import re

    pattern = re.compile(phrase(plain))
    assert all(pattern.search(t) for t in yes) and not any(pattern.search(t) for t in no)


def test_a_word_without_end_costs_no_time():
    rule = Pattern(en=[["re:area[^.;]{0,50}edge|edge\\w*[^.;]{0,50}area", "re:distribut\\w+[^.;]{0,50}evenly"]])
    start = time.perf_counter()
    for word in ("edge", "distribut"):
        assert reading("It waits, and " + word * 1900, rule)[0].hit is None
    assert time.perf_counter() - start < 2  # without a bound: a quarter of an hour
    assert reading("The distributed tiles are spread evenly", rule)[1]


def test_what_stands_in_a_class_or_behind_a_backslash_is_no_repeat():
    assert _bounded(r"\w*[\w*]+\*[*+-]\\w+(?:a|b)*x+") == r"\w{0,32}[\w*]{1,32}\*[*+-]\\w+(?:a|b)*x+"
