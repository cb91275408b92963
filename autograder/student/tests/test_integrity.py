"""What counts as a change outside the blank, and what does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.release.data import student_lesson
from autograder.student.integrity import integrity_items
from autograder.student.reading import find_parts
from autograder.student.tests.work import cell, filled

ATOMS = st.sampled_from(["step", "stages", "0", "1", "(step, stages)", "step % stages"])
JOINED = st.sampled_from(["({} + {})", "({} * {})", "({} if step else {})", "({}, {})"])
FILLS = st.recursive(ATOMS, lambda e: st.tuples(JOINED, e, e).map(lambda t: t[0].format(t[1], t[2])), max_leaves=5)


def found(lesson, nb):
    data = student_lesson(lesson)
    return [i.code for i in integrity_items(data, find_parts(nb, data), "en") if i.status == "bad"]


def test_no_fill_is_a_change_outside_the_blank(lesson):
    @settings(max_examples=40, deadline=None)
    @given(fill=FILLS)
    def holds(fill):
        assert found(lesson, filled(lesson, "en", fill=fill)) == []

    holds()


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("# TODO: complete only the expression below.", "# my own remark", []),
        ("    return ", "    half = step\n    return ", []),
        ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3) == (1, 1), 'why'", ["assert"]),
        ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3)", ["assert"]),
        ("assert ring_index(4, 3) == (1, 1)", "# assert ring_index(4, 3) == (1, 1)", ["assert"]),
        ("assert ring_index(4, 3) == (1, 1)", "assert ring_index(4, 3) == (1, 1)\nassert ring_index(0, 1) == (0, 0)", []),
        ("def ring_index(step, stages):", "def ring_index(step, stages=3):", ["edited"]),
        ("def ring_index(step, stages):", "import functools\n@functools.cache\ndef ring_index(step, stages):", ["edited"]),
        ("assert ring_index(2, 3)", "x = 1\nassert ring_index(2, 3)", ["edited"]),
    ],
)
def test_changes_around_the_blank(lesson, old, new, codes):
    nb = filled(lesson, "en")
    assert old in cell(nb, "exercise").source
    cell(nb, "exercise").source = cell(nb, "exercise").source.replace(old, new)
    assert found(lesson, nb) == codes


def test_spaces_and_line_ends_of_locked_cells_do_not_matter(lesson):
    nb = filled(lesson, "en")
    cell(nb, "normal").source += "\n\n"
    assert found(lesson, nb) == []
