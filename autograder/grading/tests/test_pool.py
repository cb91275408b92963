"""Many submissions: nothing lost, nothing twice, in order, whatever happens to a worker."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from autograder.errors import CourseError
from autograder.grading import pool
from autograder.grading.pool import grade_many
from autograder.grading.worker import receive, send
from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import SOLUTION, write_lesson

# A worker that does what the student's name says: crash, crash-once, hang, slow, or grade.
FAKE = """
import json, os, socket, sys, time
from pathlib import Path
from autograder.grading.worker import receive, send
link = socket.socket(fileno=int(sys.argv[1]))
setup = receive(link)
marks = Path(os.environ["MARKS"])
if (marks / "refuse").exists():
    send(link, {"error": ["no sandbox", "", "install it"]})
    sys.exit()
send(link, {"ready": True})
while (work := receive(link)) is not None:
    name = work["student"]
    with (marks / "log").open("a") as log:
        log.write(name + "\\n")
    with (marks / f"told-{os.getpid()}").open("a") as log:
        log.writelines(key + "\\n" for key in work["ran"])
    if name.startswith("crash-once") and not (marks / name).exists():
        (marks / name).touch()
        os._exit(9)
    if name.startswith("crash-always"):
        os._exit(9)
    if name.startswith("hang"):
        time.sleep(1000)
    if "slow" in name:
        time.sleep(0.3)
    if name.startswith("busy"):
        for _ in range(60):
            time.sleep(0.01)
    send(link, {"result": {"student": name, "lesson": "l", "lang": "zh", "state": "PASS", "source_hash": str(os.getpid())}, "ran": {name: {}} if name.startswith("run") else {}, "rss_mb": 5000 if name.startswith("large") else 1})
"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(write_lesson(tmp_path_factory.mktemp("course")))


@pytest.fixture
def fake(tmp_path, monkeypatch):
    script = tmp_path / "fake_worker.py"
    script.write_text(FAKE)
    monkeypatch.setattr(pool, "WORKER", (sys.executable, str(script)))
    monkeypatch.setenv("MARKS", str(tmp_path))
    return tmp_path


def names(prefix, n):
    return [(f"{prefix}{i}", b"x") for i in range(n)]


def test_results_come_in_the_order_given(lesson, fake):
    work = [("slow", b"x"), *names("a", 20), ("slow2", b"x"), *names("b", 5)]
    seen = []
    results = list(grade_many(lesson, iter(work), 3, seen.append))
    assert [r.student for r in results] == [s for s, _ in work] == [r.student for r in seen]


def test_a_crash_is_tried_once_more_and_costs_nobody_else(lesson, fake):
    work = [*names("a", 4), ("crash-once", b"x"), *names("b", 4), ("crash-always", b"x"), *names("c", 4)]
    results = {r.student: r for r in grade_many(lesson, work, 2)}
    assert len(results) == len(work)
    assert results["crash-once"].state == "PASS"
    bad = results.pop("crash-always")
    assert (
        bad.state == "UNGRADED"
        and bad.findings[0].code == "grader_crashed"
        and bad.source_hash
        and bad.why[0].isascii()
    )
    assert all(r.state == "PASS" for r in results.values())
    log = (fake / "log").read_text().split()
    assert sorted(log) == sorted([s for s, _ in work] + ["crash-once", "crash-always"])


def test_a_submission_that_overruns_is_stopped_and_not_tried_again(lesson, fake):
    start = time.monotonic()
    results = {
        r.student: r for r in grade_many(lesson, [*names("a", 2), ("hang", b"x"), *names("b", 2)], 2, timeout=1.0)
    }
    assert time.monotonic() - start < 10
    assert results["hang"].findings[0].code == "grader_overran"
    assert [r.state for n, r in results.items() if n != "hang"] == ["PASS"] * 4
    assert (fake / "log").read_text().split().count("hang") == 1


def test_what_ran_in_one_worker_is_told_to_the_others_once_and_not_to_itself(lesson, fake):
    by_process = {}
    for result in grade_many(lesson, names("run-slow", 12), 2):
        by_process.setdefault(result.source_hash, []).append(result.student)
    told = {p: (fake / f"told-{p}").read_text().split() for p in by_process}
    for process, students in by_process.items():
        assert len(told[process]) == len(set(told[process])) and not set(told[process]) & set(students)
    *others, last = sorted(by_process, key=lambda p: int(by_process[p][-1].removeprefix("run-slow")))
    for other in others:
        assert set(by_process[other]) - set(told[last]) <= {
            by_process[other][-1]
        }  # all that was over when it had its last


def test_only_the_latest_of_what_ran_is_kept_for_new_workers(monkeypatch):
    monkeypatch.setattr(pool, "SHARED", 3)
    one, two = (SimpleNamespace(process=SimpleNamespace(pid=pid), told=0) for pid in (1, 2))
    shared = pool._Shared()
    shared.add(one, {"a": {}})
    assert shared.tell(two) == {"a": {}} and shared.tell(two) == {} and shared.tell(one) == {}
    shared.add(two, {"b": {}, "c": {}})
    shared.add(one, {"d": {}, "e": {}})
    assert list(shared.tell(SimpleNamespace(process=SimpleNamespace(pid=3), told=0))) == ["c", "d", "e"]
    assert list(shared.tell(one)) == ["c"] and list(shared.tell(two)) == ["d", "e"]


GRADES_ONE = """
import sys
from pathlib import Path
from autograder.grading import pool
from autograder.lesson import load_lesson
pool.WORKER, pool.MOST_A_TURN = (sys.executable, sys.argv[1]), 0.5
for result in pool.grade_many(load_lesson(Path(sys.argv[2])), [("busy", b"x"), ("slow", b"x")], 2, timeout=2.0):
    print(result.state)
"""


def test_a_run_that_stood_still_blames_no_submission(lesson, fake):
    """Ctrl-Z, `docker pause`, a frozen machine: nobody's time runs out while nothing runs."""
    command = [sys.executable, "-c", GRADES_ONE, str(fake / "fake_worker.py"), str(lesson.folder)]
    (fake / "log").touch()
    run = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True)
    while run.poll() is None and (fake / "log").read_text().count("\n") < 2:
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGSTOP)
    time.sleep(4.0)
    os.killpg(run.pid, signal.SIGCONT)
    assert run.communicate(timeout=60)[0].split() == ["PASS", "PASS"]


def test_workers_are_renewed_and_few_are_started(lesson, fake, monkeypatch):
    monkeypatch.setattr(pool, "RECYCLE", 5)
    results = list(grade_many(lesson, names("a", 12), 1))
    assert len({r.source_hash for r in results}) == 3
    assert len({r.source_hash for r in grade_many(lesson, names("b", 2), 8)}) <= 2


def test_a_worker_that_a_submission_left_large_is_renewed(lesson, fake):
    pids = [
        r.source_hash
        for r in grade_many(lesson, [("a", b"x"), ("b", b"x"), ("large", b"x"), ("c", b"x"), ("d", b"x")], 1)
    ]
    assert pids[0] == pids[1] == pids[2] != pids[3] == pids[4]


def test_work_is_taken_only_as_it_is_needed(lesson, fake):
    taken = itertools.count()

    def endless():
        while True:
            yield f"a{next(taken)}", b"x"

    stream = grade_many(lesson, endless(), 2)
    for _ in range(10):
        next(stream)
    stream.close()
    assert next(taken) <= 10 + 2 + pool.AHEAD


def test_a_slow_one_holds_up_only_so_many(lesson, fake):
    taken = []

    def source():
        yield "hang", b"x"
        for name, data in names("a", 500):
            taken.append(name)
            yield name, data

    stream = grade_many(lesson, source(), 2, timeout=2.0)
    assert next(stream).student == "hang"
    stream.close()
    assert len(taken) <= 2 + pool.AHEAD + 1


def test_no_sandbox_is_one_clear_error(lesson, fake):
    (fake / "refuse").touch()
    with pytest.raises(CourseError, match="no sandbox"):
        list(grade_many(lesson, names("a", 3), 2))


@pytest.mark.parametrize(
    "ends, how, remedy",
    [
        ("sys.exit(3)", "exit status 3", "if anything, stands above"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL.*too little memory", "fewer --jobs"),
        ("os.kill(os.getpid(), signal.SIGABRT)", "SIGABRT", "course doctor"),
        ("time.sleep(60)", "not ready after", "fewer --jobs"),
    ],
)
def test_a_worker_that_does_not_start_is_an_error_that_says_how(lesson, fake, monkeypatch, ends, how, remedy):
    monkeypatch.setattr(pool, "WORKER", (sys.executable, "-c", f"import os, signal, sys, time; {ends}"))
    monkeypatch.setattr(pool, "START_TIMEOUT", 1.5 if "sleep" in ends else 60.0)
    with pytest.raises(CourseError, match=f"does not start: .*{how}") as told:
        list(grade_many(lesson, names("a", 3), 2))
    assert remedy in told.value.remedy


STARTS_AT_THE_THIRD_TRY = """
import os, time
from pathlib import Path
marks = [Path(os.environ["MARKS"], f"start-{n}") for n in range(99)]
for number, mark in enumerate(marks):
    try:
        mark.touch(exist_ok=False)
        break
    except FileExistsError:
        pass
if number < 2 * 4:
    while not all(m.exists() for m in marks[: 4 if number < 4 else 8]):  # all four die, and then all four again, so that each place has two
        time.sleep(0.01)
    os._exit(9)
"""


def test_workers_killed_here_and_there_at_their_start_do_not_stop_a_run(lesson, fake):
    """Eight of them before one is ready, two in each of the four places."""
    script = fake / "fake_worker.py"
    script.write_text(STARTS_AT_THE_THIRD_TRY + FAKE)
    assert [r.state for r in grade_many(lesson, names("slow", 6), 4)] == ["PASS"] * 6 and (fake / "start-8").exists()


def test_a_worker_killed_at_its_start_is_replaced(lesson, fake):
    """As by a system that runs out of memory."""
    script = fake / "fake_worker.py"
    script.write_text(
        "import os\nfrom pathlib import Path\nmark = Path(os.environ['MARKS'], 'started')\nif not mark.exists():\n    mark.touch()\n    os._exit(9)\n"
        + FAKE
    )
    assert [r.state for r in grade_many(lesson, names("a", 3), 1)] == ["PASS"] * 3 and (fake / "started").exists()


def test_none_is_no_work(lesson, fake):
    assert list(grade_many(lesson, [], 2)) == []


def test_leaving_early_leaves_no_process(lesson, fake):
    stream = grade_many(lesson, [*names("a", 3), *names("slow", 50)], 2)
    pids = {int(next(stream).source_hash) for _ in range(3)}
    stream.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_real_worker_end_to_end(lesson, tmp_path):
    """Two notebooks and a wreck; a worker killed from outside on the way is replaced, and the results are those of one process."""
    from autograder.grading import grade_notebook

    nb = student_notebook(lesson, "en")
    for cell in nb.cells:
        if cell.id == "exercise":
            cell.source = cell.source.replace("______", SOLUTION)
    import nbformat

    good = nbformat.writes(nb).encode()
    path = tmp_path / "handed in.ipynb"
    path.write_bytes(good)
    work = [("a", good), ("b", path), ("c", b"wreck"), ("d", good)]
    results = []
    for result in grade_many(lesson, work, 1):
        results.append(result)
        if len(results) == 1:
            _kill_a_worker()
    assert [r.student for r in results] == ["a", "b", "c", "d"]
    assert results[0].points["normal"] == 2 and results[2].state == "UNGRADED"
    alone = grade_notebook(lesson, good, "a")
    assert alone == results[0] and alone.model_copy(update={"student": "b"}) == results[1]


PARENT = """
import sys
from pathlib import Path
import nbformat
from autograder.grading.pool import grade_many
from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook
lesson, fill = load_lesson(Path(sys.argv[1])), sys.argv[2]
nb = student_notebook(lesson, "en")
for cell in nb.cells:
    if cell.id == "exercise":
        cell.source = cell.source.replace("______", fill)
good = nbformat.writes(nb).encode()
for n, result in enumerate(grade_many(lesson, ((f"s{i}", good) for i in range(1000)), 2)):
    print(n, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal to the children of a dead process")
@pytest.mark.parametrize("fill", [SOLUTION, "sum(range(10**13))"])
def test_killing_the_one_who_asked_ends_workers_and_sandboxes_quietly(lesson, fill):
    import psutil

    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(lesson.folder), fill], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert parent.stdout.readline() == b"0\n"
    below = psutil.Process(parent.pid).children(recursive=True)
    assert len(below) >= 4, "workers and their sandboxes"
    parent.kill()
    assert psutil.wait_procs(below, timeout=3)[1] == []
    assert parent.communicate()[1] == b""


def test_a_worker_whose_socket_is_gone_says_nothing(lesson):
    """Where no signal comes at the parent's end."""
    ours, theirs = socket.socketpair()
    send(ours, {"folder": str(lesson.folder), "memory_mb": 4096, "parent": os.getpid()})
    worker = subprocess.Popen([*pool.WORKER, str(theirs.fileno())], pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
    theirs.close()
    assert receive(ours) == {"ready": True}
    send(ours, {"student": "a", "data": ""})
    ours.close()
    assert worker.communicate(timeout=30)[1] == b"" and worker.returncode == 0


def _kill_a_worker():
    import psutil

    workers = []
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # one that has ended already and is not yet collected
            workers += [process] if "autograder.grading.worker" in " ".join(process.cmdline()) else []
    assert workers
    workers[0].send_signal(signal.SIGKILL)
