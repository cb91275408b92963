"""The gradebook on a real PostgreSQL server, started here from Debian's packages."""

import os
import shutil
import socket
import subprocess

import pytest

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions, server_lock
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result, slot
from tests.support.needs import postgresql_binaries


def _as_server_user() -> list[str]:
    """PostgreSQL refuses to run as root."""
    return [] if os.geteuid() else ["runuser", "-u", "postgres", "--"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    binaries = postgresql_binaries()
    run_as = _as_server_user()
    root = tmp_path_factory.mktemp("pg")
    for folder in (root, *root.parents):  # pytest's folders are for their owner only
        if folder.name.startswith(("pytest-", "popen-", "pg")):
            folder.chmod(0o755)
    data = root / "data"
    data.mkdir()
    if run_as:
        shutil.chown(data, "postgres")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    subprocess.run(
        [*run_as, str(binaries / "initdb"), "-D", str(data), "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd="/",
    )
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    subprocess.run(
        [*run_as, str(binaries / "pg_ctl"), "-D", str(data), "-w", "-l", str(data / "log"), "-o", options, "start"],
        check=True,
        capture_output=True,
        cwd="/",
    )
    yield f"postgresql+psycopg://grader@127.0.0.1:{port}"
    subprocess.run(
        [*run_as, str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"],
        check=False,
        capture_output=True,
        cwd="/",
    )


@pytest.fixture
def pg_course(server, tmp_path):
    import psycopg

    name = f"g{abs(hash(tmp_path)) % 10**9}"
    with psycopg.connect(server.replace("+psycopg", "") + "/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    return CourseFolder(tmp_path / "course", db_url=f"{server}/{name}")


@pytest.mark.postgresql
def test_the_whole_way(lesson, pg_course, inbox):
    """Grade, manual score, regrade, rerun, export: as with SQLite, foreign keys and text rules of a real server included."""
    from nbgrader.api import Gradebook

    from autograder.export import export

    for name in ("ann", "学生", "bob"):
        hand_in(
            inbox,
            lesson,
            name,
            b"broken" if name == "bob" else notebook(lesson, exercise=name),
            "2026-12-02 10:00:00 UTC",
        )
    verdicts = {
        "ann": result(
            lesson,
            "ann",
            state="REVIEW",
            slots={"q1": slot(lesson, "q1", 1.0, lane="review", quote="NUL \0 and half a pair \\ud83d")},
        ),
        "学生": result(lesson, "学生", lang="zh"),
        "bob": result(lesson, "bob", state="UNGRADED"),
    }
    grader = FakeGrader(lesson, lambda s, _: verdicts[s])
    grade_submissions(lesson, inbox, pg_course, grader=grader)
    with Gradebook(pg_course.db_url) as gb:
        grade = gb.find_grade("q1", lesson.slug, lesson.slug, "ann")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        gb.db.commit()
    grade_submissions(lesson, inbox, pg_course, grader=grader, regrade=True)
    again = FakeGrader(lesson)
    assert grade_submissions(lesson, inbox, pg_course, grader=again).kept == 3 and again.seen == []
    states = {f.result.student: (f.result.state, f.score) for f in final_results(pg_course, lesson)}
    assert states == {"ann": ("PASS", 10.0), "bob": ("UNGRADED", None), "学生": ("PASS", 10.0)}
    assert "学生,,,,PASS,10.0" in export(lesson, pg_course, "csv").read_text()
    assert not (pg_course.root / "gradebook.db").exists()


@pytest.mark.postgresql
def test_one_writer_across_machines(lesson, pg_course, inbox, tmp_path):
    """Another course folder, the same gradebook."""
    hand_in(inbox, lesson, "ann", notebook(lesson))
    elsewhere = CourseFolder(tmp_path / "elsewhere", db_url=pg_course.db_url)
    with (
        pg_course.gradebook() as gradebook,
        server_lock(gradebook, lesson.slug),
        pytest.raises(CourseError, match="another machine"),
    ):
        grade_submissions(lesson, inbox, elsewhere, grader=FakeGrader(lesson))
    assert grade_submissions(lesson, inbox, elsewhere, grader=FakeGrader(lesson)).graded == 1


def test_no_server(lesson, tmp_path, inbox):
    pytest.importorskip("psycopg")
    hand_in(inbox, lesson, "ann", notebook(lesson))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        course = CourseFolder(
            tmp_path / "course", db_url=f"postgresql+psycopg://u:secret@127.0.0.1:{s.getsockname()[1]}/x"
        )
        with pytest.raises(CourseError, match="server cannot be used") as told:
            grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
    assert "secret" not in str(told.value)


def test_no_driver(lesson, tmp_path, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson))
    course = CourseFolder(tmp_path / "course", db_url="postgresql+pg8000://u@127.0.0.1:1/x")
    with pytest.raises(CourseError, match="driver"):
        grade_submissions(lesson, inbox, course, grader=FakeGrader(lesson))
