"""The journal against torn writes: whatever a kill leaves, whole entries survive and the file can go on."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.gradebook.journal import Entry, Journal
from autograder.gradebook.tests.fake import result
from autograder.lesson import load_lesson

LESSON = load_lesson("7")


def entry(n):
    return Entry(f"学生{n}", "a" * 64, "b" * 64, None, result(LESSON, f"学生{n}", fill='line\n"quoted" 中文 \u2028'))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 4), st.floats(0, 1))
def test_torn_last_line(tmp_path, whole, share):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"".join(entry(n).line() for n in range(whole)))
    torn = entry(99).line()[:-1]
    with path.open("ab") as file:
        file.write(torn[: int(share * len(torn))])
    journal = Journal(path)
    assert [e.student for e in journal.entries()] == [f"学生{n}" for n in range(whole)]
    journal.append(entry(5))
    assert [e.student for e in journal.entries()][-1] == "学生5"
    assert list(journal.entries())[-1] == entry(5)
    journal.remove()


def test_foreign_lines_are_passed_over(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"old": "format"}\nnonsense\n' + entry(1).line())
    assert [e.student for e in Journal(path).entries()] == ["学生1"]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_file_with_only_a_torn_line(tmp_path, share):
    path = tmp_path / "j.jsonl"
    line = entry(1).line()
    path.write_bytes(line[: int(len(line) * share)])
    journal = Journal(path)
    assert list(journal.entries()) == [] and path.stat().st_size == 0
    journal.close()


def test_text_that_no_database_takes_is_replaced():
    odd = result(LESSON, "ann", fill="ok").model_copy(update={"reasons": ["a\0b", "half \ud83d pair", "\U0001f600"]})
    assert Entry("ann", "", "", None, odd).result.reasons == ["a\ufffdb", "half \ufffd pair", "\U0001f600"]
