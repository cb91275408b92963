"""Command lines that cannot be meant: refused in one sentence, before any work, with everything as it was."""

import os
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, refuse_own, usable
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.submissions import find_submissions
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook
from autograder.gradebook.tests.test_commands import course_command  # noqa: F401  (a fixture)


def test_json_is_not_written_over_what_was_handed_in(lesson, inbox, tmp_path, course_command):  # noqa: F811
    mine = hand_in(inbox, lesson, "ann", notebook(lesson))
    (tmp_path / "alias").symlink_to(mine)
    before, fresh = mine.read_bytes(), tmp_path / "fresh"
    for at in (
        mine,
        tmp_path / "alias",
        mine.with_name("new.txt"),
        inbox / "x" / ".." / "ann" / "x",
        inbox / "all.json",
    ):
        status, _, err = course_command("grade", "7", "--submissions", inbox, "--json", at, "--course", fresh)
        assert status == 1 and "folder of submissions" in err and len(err.splitlines()) == 1
    assert (
        mine.read_bytes() == before
        and not fresh.exists()
        and sorted(p.name for p in inbox.rglob("*")) == ["ann", lesson.slug, mine.name]
    )


def test_no_output_goes_over_a_notebook_or_a_part_of_the_gradebook(course, tmp_path):
    (tmp_path / "work.ipynb").write_text("mine")
    for name in ("work.ipynb", "course/gradebook.db-journal", "course/gradebook.db-wal", "course/gradebook.db-shm"):
        with pytest.raises(CourseError):
            refuse_own(tmp_path / name, course)
    elsewhere = CourseFolder(course.root, db_url=f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(CourseError, match="lives on"):
        refuse_own(tmp_path / "other.db-wal", elsewhere)
    for name in ("new.ipynb", "course/grading/a.csv", "other.db.csv"):
        refuse_own(tmp_path / name, elsewhere)


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade", "7", "--submissions", ""],
        ["grade", "7", "--submissions="],
        ["grade", "", "--submissions", "x"],
        ["grade", "7", "--submissions", "x", "--course", " "],
        ["grade", "7", "--submissions", "x", "--cluster", ""],
        ["grade", "7", "--submissions", "x", "--db", ""],
        ["export", "7", "--out", ""],
        ["collect", "7", ""],
        ["check", ""],
    ],
)
def test_an_empty_argument_is_a_mistake(arguments, course_command, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    status, _, err = course_command(*arguments)
    assert (
        status == 1
        and "is empty" in err
        and "shell variable" in err
        and len(err.splitlines()) == 1
        and not list(tmp_path.iterdir())
    )
    named = [a.removesuffix("=") for a in arguments if a.startswith("--")][-1:]
    assert f"course: {named[0] if named and arguments[1] else 'An argument'} is empty" in err


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "/tmp/x.db",
        "://",
        "postgresql://h:port/x",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
    ],
)
def test_a_url_that_keeps_no_gradebook_is_refused(lesson, inbox, tmp_path, url):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    with pytest.raises(CourseError, match="URL") as told:
        grade_submissions(lesson, inbox, CourseFolder(tmp_path / "fresh", db_url=url), grader=FakeGrader(lesson))
    assert "sqlite:////folder/gradebook.db" in told.value.remedy and not (tmp_path / "fresh").exists()
    with pytest.raises(CourseError) as told:
        usable("postgresql//ann:secret@host/x")
    assert "secret" not in str(told.value)


def test_a_database_without_a_driver_is_told_what_the_course_takes(tmp_path):
    for url in ("mysql+nodriver://u:secret@h/x", "postgres://u:secret@h/x", "foo://h/x", "sqlite://host/x.db"):
        with pytest.raises(CourseError) as told, CourseFolder(tmp_path / "c", db_url=url).gradebook():
            pass
        assert "PostgreSQL" in told.value.remedy or "sqlite:////" in told.value.remedy
        assert "secret" not in str(told.value) and "\n" not in str(told.value)


def test_a_students_own_folder_is_not_the_class(lesson, inbox):
    """Else the lesson's name becomes a student's."""
    place = hand_in(inbox, lesson, "ann", notebook(lesson)).parent
    (place.parent / "lesson01_roofline").mkdir()
    (inbox / "bob" / "lesson01_roofline").mkdir(parents=True)
    for folder, above in ((place.parent, inbox), (inbox / "bob", inbox), (place, inbox)):
        with pytest.raises(CourseError, match="one student's folder") as told:
            find_submissions(folder, lesson)
        assert str(above) in told.value.remedy
    (inbox / lesson.slug).mkdir()  # beside students it is what it always was
    assert "ann" in [s.student for s in find_submissions(inbox, lesson)]


def test_links_that_lead_nowhere_are_that_students_problem(lesson, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    for name, target in (("bob", "nowhere"), ("cyd", "dan"), ("dan", "cyd")):
        (inbox / name).symlink_to(target)
    found = {s.student: s for s in find_submissions(inbox, lesson)}
    assert set(found) == {"ann", "bob", "cyd", "dan"} and all(
        "link" in found[n].problem["en"] for n in ("bob", "cyd", "dan")
    )


def test_what_is_in_the_way_is_named(lesson, inbox, tmp_path, course_command):  # noqa: F811
    hand_in(inbox, lesson, "ann", notebook(lesson))
    os.mkfifo(tmp_path / "pipe")
    for at in (Path("/dev/null"), tmp_path / "pipe"):
        with pytest.raises(CourseError, match="not a folder"):
            find_submissions(at, lesson)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "autograded").touch()
    with pytest.raises(CourseError, match="a file stands where it needs a folder") as told:
        CourseFolder(tmp_path / "c").prepare()
    assert told.value.where == str(tmp_path / "c" / "autograded") and "Move the file away" in told.value.remedy
    for arguments, missing in ((["grade"], "Name one lesson"), (["grade", "7"], "folder of submissions")):
        status, _, err = course_command(*arguments)
        assert status == 2 and missing in " ".join(err.replace("│", " ").split())
