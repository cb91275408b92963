"""nbgrader's own commands in a course folder: the same rows, our feedback page, our export, collecting."""

import csv
import json
import os

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp, ExportApp, GenerateFeedbackApp, ZipCollectApp

from autograder.commands import release
from autograder.feedback import write_feedback
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.settings import CONFIG_NAME
from autograder.gradebook.submissions import find_submissions, stage
from autograder.gradebook.tests.fake import FakeGrader, fill_of, finding, hand_in, notebook, result, slot
from autograder.records import POINT_NAMES


def nbgrader(app_class, course, *argv):
    """Run an nbgrader command in the course folder, as its console script does."""
    here = os.getcwd()
    os.chdir(course.root)
    try:
        app_class.clear_instance()
        app = app_class.instance()
        app.initialize(list(argv))
        app.start()
    finally:
        app_class.clear_instance()
        os.chdir(here)


VERDICTS = {
    "ann": lambda lesson: result(lesson, "ann", fill="f", lang="zh"),
    "bob": lambda lesson: result(lesson, "bob", state="UNGRADED"),
    "cyd": lambda lesson: result(
        lesson, "cyd", state="REVIEW", slots={"q2": slot(lesson, "q2", 1.0, lane="review")}, findings=[finding()]
    ),
    "dan": lambda lesson: result(lesson, "dan", state="FAIL", normal=0.0, boundary=0.0, slots={"q1": 1.0}),
}


@pytest.fixture
def grading(lesson, monkeypatch):
    """Both roads to a grade give these verdicts."""
    monkeypatch.setattr(
        "autograder.grading.grade_notebook", lambda lesson, path, student: VERDICTS[student](lesson), raising=False
    )
    return FakeGrader(lesson, lambda student, _: VERDICTS[student](lesson))


@pytest.fixture
def class_inbox(lesson, inbox):
    for name in VERDICTS:
        hand_in(
            inbox,
            lesson,
            name,
            b"broken" if name == "bob" else notebook(lesson, exercise=name),
            "2026-12-02 10:00:00 UTC",
        )
    return inbox


def table(course, slug):
    """Every row that nbgrader keeps of the submissions, without its random ids."""
    with Gradebook(course.db_url) as gb:
        out = {}
        for s in gb.assignment_submissions(slug):
            nb = gb.find_submission_notebook(slug, slug, s.student.id)
            grades = sorted((g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in nb.grades)
            comments = sorted((c.name, c.auto_comment, c.manual_comment) for c in nb.comments)
            out[s.student.id] = (s.timestamp, s.score, nb.late_submission_penalty, grades, comments)
        return out


def test_autograde_gives_the_rows_of_course_grade(lesson, course, class_inbox, grading):
    config = course.root / CONFIG_NAME
    config.write_text(config.read_text() + "\nc.LatePolicy.percent_per_day = 10.0\n")
    with course.gradebook() as gb:
        gb.update_or_create_assignment(lesson.slug, duedate="2026-12-01 12:00:00 UTC")
    grade_submissions(lesson, class_inbox, course, grader=grading)
    ours = table(course, lesson.slug)
    shown = {p: p.read_text() for p in course.root.glob("autograded/*/*/*.ipynb")}
    assert len(ours) == len(shown) == 4 and ours["ann"][2] == 1.0

    with Gradebook(course.db_url) as gb:
        for name in VERDICTS:
            gb.remove_submission(lesson.slug, name)
    nbgrader(AutogradeApp, course, lesson.slug, "--force", "--log-level", "ERROR")
    assert table(course, lesson.slug) == ours
    assert {p: p.read_text() for p in course.root.glob("autograded/*/*/*.ipynb")} == shown
    assert [f.result.state for f in final_results(course, lesson)] == ["PASS", "UNGRADED", "REVIEW", "FAIL"]
    again = FakeGrader(lesson)
    assert grade_submissions(lesson, class_inbox, course, grader=again).kept == 4, (
        "course grade knows what nbgrader graded"
    )


def test_autograde_from_nothing_but_collected_files(lesson, course, class_inbox, grading):
    """An instructor who only uses nbgrader: files in submitted/, no `course grade` before. generate_assignment comes first."""
    from nbgrader.apps import GenerateAssignmentApp

    from autograder.gradebook.assignment import ensure_folders

    ensure_folders(course, lesson)
    for submission in find_submissions(class_inbox, lesson):
        stage(submission, course, lesson.slug)
    nbgrader(GenerateAssignmentApp, course, lesson.slug, "--force", "--log-level", "ERROR")
    nbgrader(AutogradeApp, course, lesson.slug, "--log-level", "ERROR")
    rows = table(course, lesson.slug)
    assert set(rows) == set(VERDICTS) and rows["ann"][1] == 10.0


def test_autograde_in_a_folder_that_was_only_released(lesson, class_inbox, grading, tmp_path, monkeypatch):
    """`course release` and no `course grade`: nbgrader finds the assignment, and its rows are those of `course grade` in another folder."""
    monkeypatch.setattr(release, "release", lambda *_: [])  # the bundle takes no part
    here, there = (CourseFolder(tmp_path / name) for name in ("here", "there"))
    for course in (here, there):
        course.prepare()
        release.command([lesson.slug], course.root, lang="en")
        with Gradebook(course.db_url) as gb:
            assert {c.name: c.max_score for c in gb.find_notebook(lesson.slug, lesson.slug).grade_cells} == {
                n: float(getattr(lesson.rubric.points, n)) for n in POINT_NAMES
            }
    for submission in find_submissions(class_inbox, lesson):
        stage(submission, here, lesson.slug)
    nbgrader(AutogradeApp, here, lesson.slug, "--log-level", "ERROR")
    grade_submissions(lesson, class_inbox, there, grader=grading)
    assert table(here, lesson.slug) == table(there, lesson.slug) and len(table(here, lesson.slug)) == len(VERDICTS)


def test_a_release_into_a_graded_course_keeps_its_scores(lesson, course, class_inbox, grading, monkeypatch):
    monkeypatch.setattr(release, "release", lambda *_: [])
    grade_submissions(lesson, class_inbox, course, grader=grading)
    with Gradebook(course.db_url) as gb:
        gb.find_grade("q2", lesson.slug, lesson.slug, "cyd").manual_score = 2.0
        gb.db.commit()
    before = table(course, lesson.slug)
    release.command(["6", lesson.slug], course.root, lang="en")
    assert table(course, lesson.slug) == before
    with Gradebook(course.db_url) as gb:
        assert len(gb.assignments) == 2


def test_manual_score_survives_autograde_force(lesson, course, class_inbox, grading):
    grade_submissions(lesson, class_inbox, course, grader=grading)
    with Gradebook(course.db_url) as gb:
        grade = gb.find_grade("q2", lesson.slug, lesson.slug, "cyd")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        gb.db.commit()
    nbgrader(AutogradeApp, course, lesson.slug, "--force", "--student", "cyd", "--log-level", "ERROR")
    final = next(f for f in final_results(course, lesson) if f.result.student == "cyd")
    assert (final.result.state, final.result.points["q2"], final.human.waiting) == ("PASS", 2.0, ())


def test_generate_feedback_writes_our_page(lesson, course, class_inbox, grading):
    grade_submissions(lesson, class_inbox, course, grader=grading)
    pages = write_feedback(lesson, course)
    ours = {p: p.read_text() for p in pages}
    nbgrader(GenerateFeedbackApp, course, lesson.slug, "--force", "--log-level", "ERROR")
    assert {p: p.read_text() for p in pages} == ours and len(pages) == 4


def test_export(lesson, course, class_inbox, grading):
    grade_submissions(lesson, class_inbox, course, grader=grading)
    nbgrader(ExportApp, course, "--to", str(course.root / "out.csv"), "--log-level", "ERROR")
    with (course.root / "out.csv").open() as file:
        lines = {row["student"]: row for row in csv.DictReader(file)}
    assert lines["bob"]["state"] == "UNGRADED" and lines["bob"]["score"] == "" and lines["dan"]["score"] == "6.0"


def test_zip_collect_knows_lms_names(lesson, course, grading):
    place = course.root / "downloaded" / lesson.slug / "archive"
    place.mkdir(parents=True)
    (place / "doejane_11_900_hw.ipynb").write_bytes(notebook(lesson, exercise="jane"))
    nbgrader(ZipCollectApp, course, lesson.slug, "--log-level", "ERROR")
    assert fill_of(course.step("submitted", "doejane-11", lesson.slug) / f"{lesson.slug}.ipynb") == "jane"


def test_the_exchange_from_release_to_feedback(lesson, course, tmp_path, grading):
    """nbgrader's exchange carries the notebook out, the hand-in back and our feedback page to the student."""
    from nbgrader.apps import (
        CollectApp,
        FetchAssignmentApp,
        FetchFeedbackApp,
        GenerateAssignmentApp,
        ReleaseAssignmentApp,
        ReleaseFeedbackApp,
        SubmitApp,
    )

    from autograder.gradebook.assignment import ensure_folders

    exchange, home = tmp_path / "exchange", tmp_path / "home"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    home.mkdir()
    where = ["--course", "hopper", f"--Exchange.root={exchange}", "--log-level", "ERROR"]
    config = course.root / CONFIG_NAME
    config.write_text(config.read_text() + "\nc.CourseDirectory.course_id = 'hopper'\n")
    ensure_folders(course, lesson)
    nbgrader(GenerateAssignmentApp, course, lesson.slug, "--force", "--log-level", "ERROR")
    nbgrader(ReleaseAssignmentApp, course, lesson.slug, *where)

    student = type("Folder", (), {"root": home})
    nbgrader(FetchAssignmentApp, student, lesson.slug, *where, f"--Exchange.cache={home / 'cache'}")
    fetched = json.loads((home / lesson.slug / f"{lesson.slug}.ipynb").read_text())
    assert "return ______" in "".join(next(c["source"] for c in fetched["cells"] if c["id"] == "exercise")), (
        "the blank goes out as it is"
    )
    nbgrader(SubmitApp, student, lesson.slug, *where, f"--Exchange.cache={home / 'cache'}", "--student", "ann")

    nbgrader(CollectApp, course, lesson.slug, *where)
    assert grade_submissions(lesson, course.root / "submitted", course, grader=grading).students == ["ann"]
    write_feedback(lesson, course)
    nbgrader(ReleaseFeedbackApp, course, lesson.slug, *where)
    nbgrader(FetchFeedbackApp, student, lesson.slug, *where, f"--Exchange.cache={home / 'cache'}", "--student", "ann")
    pages = list(home.glob(f"{lesson.slug}/feedback/*/*.html"))
    assert len(pages) == 1 and "Content-Security-Policy" in pages[0].read_text()
