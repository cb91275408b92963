"""An expression sorted by first characters matches what it matched before: in random ones, and in every rule of every lesson."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.answers import rules
from autograder.answers.indexed import indexed
from autograder.answers.normalise import normalise
from autograder.lesson import load_lesson

TIMES = st.sampled_from(["", "", "", "?", "*", "+", "{0,2}", "{,2}", "{1,3}", "{2}", "{2,3}", "??", "*?", "?+"])
ATOMS = st.sampled_from(["a", "b", "空", r"\.", " ", ".", r"\w", r"\s", "[ab]", "[^a]", "[a-c]", "[空针]", "[a.]", "^", "$", r"\b", r"\u7a7a"])


def _join(parts):
    return "".join(parts)


def _group(opening):
    return lambda alternatives: f"{opening}{'|'.join(alternatives)})"


def _larger(inner):
    sequence = st.lists(st.one_of(st.tuples(inner, TIMES).map(_join), st.sampled_from([r"(?<![a-z])", r"(?<=a)", r"(?<!空)", "(?!b)", "(?=a)"])), max_size=3).map(_join)
    return st.one_of(sequence.map(lambda s: f"(?:{s})"), st.lists(sequence, min_size=1, max_size=4).map(_group("(?:")), st.lists(sequence, min_size=1, max_size=3).map(_group("(")))


EXPRESSIONS = st.lists(st.recursive(ATOMS, _larger, max_leaves=12), min_size=1, max_size=4).map("|".join)


def spans(expression, text):
    return [m.span() for m in re.compile(expression).finditer(text)]


@given(EXPRESSIONS, st.text("ab空针. ", max_size=12))
@example("a|ab", "ab")
@example("ab|a", "ab")
@example("(?:a|b)?空|b", "b空 空 b")
@example("(?<![a-z])a|ba", "ba a")
@example("a{0,2}b|a", "aab aaa")
@example("(?:a|)b|b空", "b空 ab")
@settings(max_examples=1500, deadline=None)
def test_the_same_places_are_found(expression, text):
    try:
        expected = spans(expression, text)
    except re.error:
        return
    assert spans(indexed(expression), text) == expected


@pytest.mark.parametrize("expression", [r"(a)\1|b", "(?P<n>a)(?P=n)|b", "(?i)a|B", "(a)?(?(1)b|c)"])
def test_what_cannot_be_read_stays_as_it_is(expression):
    assert indexed(expression) == expression


def test_alternatives_that_begin_alike_stand_together_in_their_order():
    assert indexed("(?<![a-z])null|(?:空|野)指针|nan") == "n(?:(?<!(?:[a-z])n)ull|an)|空指针|野指针"


@pytest.mark.parametrize("number", range(1, 9))
def test_every_rule_of_a_lesson_finds_what_it_found(number, monkeypatch):
    lesson = load_lesson(str(number))
    fast = rules.compile_rules(lesson.rubric)
    monkeypatch.setattr(rules, "compiled", re.compile)
    plain = rules.compile_rules(lesson.rubric)
    lines = (lesson.folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    text = "\n".join(normalise(json.loads(line)["answer"]).text for line in lines[::4])
    pairs = [(a, b) for id_ in plain for p, q in zip(plain[id_], fast[id_], strict=True) for v, w in zip(p.variants, q.variants, strict=True) for a, b in zip(v, w, strict=True)]
    assert any(a.regex.pattern != b.regex.pattern for a, b in pairs)
    for a, b in pairs:
        assert [m.span() for m in a.finditer(text)] == [m.span() for m in b.finditer(text)], a.regex.pattern[:200]
