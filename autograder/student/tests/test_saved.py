"""What counts as a change outside the blank, and what does not: the grader's findings as the student is told of them."""

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.release.data import student_lesson
from autograder.student.reading import editions_of, read_saved, word_count
from autograder.student.saved import doubled_items, fill_items, finding_items
from autograder.student.tests.work import cell, filled, save
from autograder.submission.read import released

ATOMS = st.sampled_from(["step", "stages", "0", "1", "(step, stages)", "step % stages"])
JOINED = st.sampled_from(["({} + {})", "({} * {})", "({} if step else {})", "({}, {})"])
FILLS = st.recursive(ATOMS, lambda e: st.tuples(JOINED, e, e).map(lambda t: t[0].format(t[1], t[2])), max_leaves=5)


@pytest.fixture
def read(lesson, tmp_path):
    data = student_lesson(lesson)
    return lambda nb: read_saved(save(nb, tmp_path, "x.ipynb"), data)


def codes(items, status="bad"):
    return [i.code for i in items if i.status == status]


def test_the_bundle_gives_the_graders_own_view_of_the_release(lesson):
    ours, theirs = editions_of(student_lesson(lesson)), released(lesson)
    for lang in ("zh", "en"):
        told = lambda book: (
            {k: v for k, v in vars(book).items() if k != "exercise"}
            | {"path": book.exercise.path, "function": book.exercise.function}
        )  # noqa: E731
        assert told(ours[lang]) == told(theirs[lang])


def test_no_fill_is_a_change_outside_the_blank(lesson, read):
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(fill=FILLS)
    def holds(fill):
        saved = read(filled(lesson, "en", fill=fill))
        assert codes(finding_items(saved, "en"), "ok") == ["intact"] and fill_items(saved, "en")[0] == []

    holds()


CHANGES = [
    ("# TODO: complete only the expression below.", "# my own remark", [], []),
    ("    return ", "    half = step\n    return ", [], []),
    ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3) == (1, 1), 'why'", [], []),
    ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3) == (1.0, 1)", [], []),
    ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3)", ["assert"], []),
    ("assert ring_index(4, 3) == (1, 1)", "# assert ring_index(4, 3) == (1, 1)", ["assert"], []),
    (
        "assert ring_index(4, 3) == (1, 1)",
        "assert ring_index(4, 3) == (1, 1)\nassert ring_index(0, 1) == (0, 0)",
        [],
        [],
    ),
    ("def ring_index(step, stages):", "def ring_index(step: int, stages: int) -> tuple:", [], []),
    ("def ring_index(step, stages):", "def ring_index(step, stages=3):", [], ["edited"]),
    (
        "def ring_index(step, stages):",
        "import functools\n@functools.cache\ndef ring_index(step, stages):",
        [],
        ["edited"],
    ),
    ("assert ring_index(2, 3)", "x = 1\nassert ring_index(2, 3)", [], []),
    ("assert ring_index(2, 3)", "ring_index = print\nassert ring_index(2, 3)", ["edited"], []),
]


@pytest.mark.parametrize(("old", "new", "bad", "told"), CHANGES)
def test_changes_around_the_blank(lesson, read, old, new, bad, told):
    """bad: to be put right, as it is a veto or waits for a person. told: the released line is graded in its place."""
    nb = filled(lesson, "en")
    assert old in cell(nb, "exercise").source
    cell(nb, "exercise").source = cell(nb, "exercise").source.replace(old, new)
    items = finding_items(read(nb), "en")
    assert (codes(items), codes(items, "note")) == (bad, told)


def test_spaces_and_line_ends_of_locked_cells_do_not_matter(lesson, read):
    nb = filled(lesson, "en")
    cell(nb, "normal").source += "\n\n"
    for c in nb.cells:
        c.source = c.source.replace("\n", "\r\n")
    assert codes(finding_items(read(nb), "en"), "ok") == ["intact"]


def test_a_copy_is_told_and_two_different_fills_are_to_be_put_right(lesson, read):
    nb = filled(lesson, "en")
    nb.cells.append(nbformat.from_dict(dict(cell(nb, "exercise"), id="copy")))
    saved = read(nb)
    assert codes(finding_items(saved, "en")) == [] and codes(doubled_items(saved, "en"), "note") == ["doubled"]
    nb.cells[-1].source = nb.cells[-1].source.replace("step % stages", "step - step // stages * stages")
    items = finding_items(read(nb), "en")
    assert codes(items) == ["fill"] and "2 exercise cells with different answers" in str(items)


@pytest.mark.parametrize(
    ("fill", "says"),
    [
        ("open('x')", "The blank may not use open()"),
        ("(lambda: ().__class__)()", "may not use"),
        ("1" + "+1" * 900, "nested too deeply"),
        ("(yield)", "may not use yield"),
    ],
)
def test_what_the_grader_refuses_to_run_is_said_before_hand_in(lesson, read, fill, says):
    items, _ = fill_items(read(filled(lesson, "en", fill=fill)), "en")
    assert codes(items) == ["blank"] and says in items[0].text


@pytest.mark.parametrize(
    ("text", "n"), [("Ｔｈｅ ｐｈａｓｅ ｆｌｉｐｓ", 3), ("相位翻转", 4), ("the phase 翻转", 4), ("", 0), ("……", 0)]
)
def test_words_are_counted_in_either_script_and_width(text, n):
    assert word_count(text) == n
