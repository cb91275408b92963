"""Who is who over several assignments, when they handed in, and the late policy as one command."""

import dataclasses
import unicodedata
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.errors import CourseError
from autograder.export import export
from autograder.gradebook.collect import collect, recognise
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.due import policy_line, set_due, set_policy
from autograder.gradebook.final import final_results
from autograder.gradebook.roster import Person, Roster, read_class_list, same_name
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import FakeGrader, notebook

WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
)


def download(folder: Path, names: list[str], lesson) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(notebook(lesson))
    return folder


def moodle(name: str, number: int) -> str:
    return f"{name}_{number}_assignsubmission_file/hw.ipynb"


@pytest.fixture
def other_lesson(lesson):
    """Another assignment of the same course: the same notebook under another name."""
    return dataclasses.replace(lesson, slug="lesson08_kernel_selection")


def test_moodle_s_new_number_in_the_next_assignment_makes_no_second_student(lesson, other_lesson, course, tmp_path):
    collect(lesson, download(tmp_path / "a", [moodle("Ann Lee", 77), moodle("王小明", 78)], lesson), course)
    taken = collect(
        other_lesson, download(tmp_path / "b", [moodle("Ann Lee", 501), moodle("王小明", 77)], lesson), course
    )
    assert sorted(taken.students) == ["ann-lee-77", "王小明-78"], "77 is another's number this time"
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    first = export(lesson, course, "moodle").read_text()
    assert "Participant 77,Ann Lee" in first and "Participant 78,王小明" in first
    assert Roster.read(course).participant_of(other_lesson.slug) == {"ann-lee-77": "501", "王小明-78": "77"}


def test_namesakes_are_kept_apart_and_told_until_a_worksheet_says_who_is_who(lesson, other_lesson, course, tmp_path):
    taken = collect(lesson, download(tmp_path / "a", [moodle("Li Wei", 1), moodle("Li Wei", 2)], lesson), course)
    assert taken.students == ["li-wei-1", "li-wei-2"] and len(taken.namesakes) == 2
    later = download(tmp_path / "b", [moodle("Li Wei", 31), moodle("Li Wei", 32)], lesson)
    sheets = {lesson.slug: "Participant 1,Li Wei,a@x.edu\nParticipant 2,Li Wei,b@x.edu\n",
              other_lesson.slug: "Participant 31,Li Wei,b@x.edu\nParticipant 32,Li Wei,a@x.edu\n"}  # fmt: skip
    roster = Roster.read(course)
    for slug, lines in sheets.items():
        path = tmp_path / f"{slug}.csv"
        path.write_text("Identifier,Full name,Email address\n" + lines, encoding="utf-8")
        rows = read_class_list(path)
        roster.take(rows, slug, "UTC")
    roster.write(course)
    taken = collect(other_lesson, later, course)
    assert not taken.namesakes
    assert Roster.read(course).participant_of(other_lesson.slug) == {"li-wei-2": "31", "li-wei-1": "32"}


def test_a_worksheet_of_a_collected_lesson_tells_namesakes_apart_by_itself(lesson, course, tmp_path):
    collect(lesson, download(tmp_path / "a", [moodle("Li Wei", 1), moodle("Li Wei", 2)], lesson), course)
    path = tmp_path / "sheet.csv"
    path.write_text("Identifier,Full name,Email address\nParticipant 1,Li Wei,a@x.edu\nParticipant 2,Li Wei,b@x.edu\n")
    roster = Roster.read(course)
    roster.take(read_class_list(path), lesson.slug, "UTC")
    assert {p.student: p.email for p in roster.people} == {"li-wei-1": "a@x.edu", "li-wei-2": "b@x.edu"}


def test_names_typed_on_a_mac_are_the_same_names(lesson, other_lesson, course, tmp_path):
    apart = unicodedata.normalize("NFD", "José Müller")
    assert (
        recognise(Path(moodle(apart, 9))).student
        == recognise(Path(moodle("José Müller", 9))).student
        == "josé-müller-9"
    )
    collect(lesson, download(tmp_path / "a", [moodle(apart, 9)], lesson), course)
    assert collect(other_lesson, download(tmp_path / "b", [moodle("José Müller", 12)], lesson), course).students == [
        "josé-müller-9"
    ]
    assert same_name("Müller, José") == same_name(apart)


def test_canvas_grading_anonymously_and_its_late_marks(lesson, course, tmp_path):
    names = [
        "anon_aB3xZ_9008_X.ipynb",
        "anon_LATE_q77Yk_9009_hw.ipynb",
        "beckertom_LATE_21_9010_hw.ipynb",
        "roemax_22_9011_hw.ipynb",
    ]
    taken = collect(lesson, download(tmp_path / "d", names, lesson), course)
    assert sorted(taken.students) == ["anon-aB3xZ", "anon-q77Yk", "beckertom-21", "roemax-22"]
    assert sorted(taken.late) == ["anon-q77Yk", "beckertom-21"]
    with Gradebook(course.db_url) as gradebook:
        tom = gradebook.find_student("beckertom-21")
        assert (tom.first_name, tom.last_name) == ("", "beckertom"), "formgrader prints a missing name as None"
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    said = "\n".join(set_due(lesson, course, "2026-12-01 12:00 UTC", []))
    assert "marked LATE by Canvas, by how much is not known, no penalty: beckertom-21" in said
    assert "no time of handing in for 4, so whether they were late cannot be known" in said


def test_canvas_s_class_list_gives_names(lesson, course, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(
        'Student,ID,SIS User ID,SIS Login ID,Section,Lesson 3\n    Points Possible,,,,,10\n"Becker, Tom",21,s21,tom@x.edu,A,\n',
        encoding="utf-8-sig",
    )
    roster = Roster.read(course)
    roster.take(read_class_list(path), "", "UTC")
    roster.write(course)
    collect(lesson, download(tmp_path / "d", ["beckertom_21_1_hw.ipynb"], lesson), course)
    with Gradebook(course.db_url) as gradebook:
        tom = gradebook.find_student("beckertom-21")
        assert (tom.first_name, tom.last_name, tom.email) == ("Tom", "Becker", "tom@x.edu")


def test_times_of_the_worksheet_make_lateness_known(lesson, course, tmp_path):
    collect(lesson, download(tmp_path / "a", [moodle("Ann Lee", 77), moodle("Max Roe", 78)], lesson), course)
    path = tmp_path / "sheet.csv"
    path.write_text(
        WORKSHEET + "Participant 77,Ann Lee,ann@x.edu,Submitted,,10,Yes,\"Tuesday, 1 December 2026, 9:05 PM\",-,\n"
        "Participant 78,Max Roe,max@x.edu,No submission,,10,Yes,-,-,\n",
        encoding="utf-8",
    )  # fmt: skip
    roster = Roster.read(course)
    said = roster.take(read_class_list(path), lesson.slug, "Asia/Shanghai")
    roster.write(course)
    assert said[-1] == f"1 times of handing in for {lesson.slug}, read as Asia/Shanghai"
    collect(lesson, tmp_path / "a", course)  # again: the time is put beside the hand-in
    stamp = course.step("submitted", "ann-lee-77", lesson.slug) / "timestamp.txt"
    assert stamp.read_text() == "2026-12-01 13:05:00 UTC\n"
    set_policy(course, 10, 15, 50)
    set_due(lesson, course, "2026-12-01 12:00 UTC", [])
    grade_submissions(lesson, course.root / "submitted", course, grader=FakeGrader(lesson))
    lines = set_due(lesson, course, None, [])
    assert "late: ann-lee-77 1.1 h, penalty 1" in lines
    assert any("no time of handing in for 1" in line and "max-roe-78" in line for line in lines)
    assert {f.result.student: f.score for f in final_results(course, lesson)} == {"ann-lee-77": 9.0, "max-roe-78": 10.0}


def test_one_student_s_whole_folder_is_one_student(lesson, course, tmp_path):
    folder = tmp_path / "wang"
    for name in ("lesson.json", "glossary.md", "assets/a.svg", "zh/notes.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    (folder / f"{lesson.slug}.ipynb").write_bytes(notebook(lesson))
    assert collect(lesson, folder, course).students == ["wang"]


def test_the_policy_is_one_command_and_nbgrader_reads_it(lesson, course):
    assert policy_line(course).startswith("policy: none")
    set_policy(course, 10, None, None)
    set_policy(course, None, 15, 25)
    assert (
        policy_line(course) == "policy: 10 % of the points reached for each started day after 15 minutes, at most 25 %"
    )
    assert CourseFolder(course.root).config.LatePolicy.percent_at_most == 25.0
    (course.root / "late_policy.json").write_text("[]")
    with pytest.raises(CourseError, match="is no late policy"):
        policy_line(CourseFolder(course.root))
    set_policy(course, 0, 0, 100)
    assert policy_line(course).startswith("policy: none")


@pytest.mark.parametrize(
    "text, rows",
    [
        ("标识符,全名,电子邮件地址\n参与者 12,王小明,w@x.cn\n", [("王小明", "12")]),
        ("Identifier;Full name;Email address\nTeilnehmer/in4711;Jörg Ö;j@x.de\n", [("Jörg Ö", "4711")]),
        ("name,email\nAnn,a@x.edu\n,b@x.edu\n", [("Ann", "")]),
    ],
)
def test_class_lists(tmp_path, text, rows):
    for encoding in ("utf-8", "utf-8-sig", "utf-16") + (("gb18030",) if "王" in text else ()):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(text.encode(encoding))
        assert [(r.person.name, r.participant) for r in read_class_list(path)] == rows, encoding


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"\x00\x01\x02", b"Identifier\nParticipant 1\n"])
def test_what_is_no_class_list_is_refused_with_what_to_give(tmp_path, data):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    with pytest.raises(CourseError, match="class list"):
        read_class_list(path)


def test_people_are_joined_where_they_surely_are_one_and_kept_apart_where_they_differ():
    roster = Roster()
    ann = roster.add(Person("Ann Lee", email="ann@x.edu"))
    assert roster.add(Person("Lee, Ann", canvas="5")) == ann and roster.people[ann].canvas == "5"
    assert roster.add(Person("Anna Lee", email="ANN@x.edu")) == ann
    assert roster.add(Person("Ann Lee", email="other@x.edu")) != ann
    assert len(roster.people) == 2
