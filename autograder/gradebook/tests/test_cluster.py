"""The same work on a dask.distributed cluster: a scheduler and two worker processes, one of them killed on the way."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import hand_in, notebook
from autograder.grading import grade_notebook
from autograder.release.notebook import student_notebook

ROOT = Path(__file__).parents[3]
COUNT = 24


@pytest.fixture
def cluster(tmp_path):
    """(address, worker processes); a worker keeps no nanny, so that a kill is a death."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
        "DASK_DISTRIBUTED__COMM__RETRY__COUNT": "0",
    }
    address_file = tmp_path / "scheduler.json"

    def start(*command):
        log = (tmp_path / f"{command[0]}-{len(list(tmp_path.glob('*.log')))}.log").open("w")
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            env=environment,
            cwd=tmp_path,
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    scheduler = start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address_file)
    )
    workers = [
        start(
            "worker",
            "--scheduler-file",
            str(address_file),
            "--no-nanny",
            "--no-dashboard",
            "--nthreads",
            "1",
            "--host",
            "127.0.0.1",
            "--death-timeout",
            "60",
        )
        for _ in range(2)
    ]
    try:
        for _ in range(300):
            if address_file.exists():
                break
            assert scheduler.poll() is None
            time.sleep(0.1)
        yield json.loads(address_file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def test_a_killed_worker_costs_nothing(lesson, course, inbox, cluster):
    address, workers = cluster
    exercise = next(c.source for c in student_notebook(lesson, "en").cells if c.id == "exercise")
    fills = ["alpha * acc if beta == 0 else alpha * acc + beta * c", "alpha * acc + beta * c"]
    for n in range(COUNT):
        hand_in(
            inbox,
            lesson,
            f"s{n:02d}",
            notebook(lesson, exercise=exercise.replace("______", fills[n % 2], 1) + f"\n# {n}"),
        )
    hand_in(inbox, lesson, "broken", b"{")
    killed = []

    def progress(done, total, result):
        if done == 2 and not killed:
            killed.append(workers[0].pid)
            os.kill(workers[0].pid, signal.SIGKILL)

    summary = grade_submissions(lesson, inbox, course, cluster=address, progress=progress)
    assert killed and workers[0].wait(10) == -signal.SIGKILL and summary.graded == COUNT + 1
    finals = {f.result.student: f.result for f in final_results(course, lesson)}
    assert len(finals) == COUNT + 1 and finals["broken"].state == "UNGRADED"
    for name in ("s00", "s01", "broken"):  # the cluster's result is the one that this process gives
        path = inbox / name / lesson.slug / f"{lesson.slug}.ipynb"
        here = grade_notebook(lesson, path.read_bytes(), name)
        assert finals[name] == here
    assert finals["s00"].points["normal"] == 2 and finals["s01"].points["boundary"] == 0


def test_losing_every_worker_ends_with_a_sentence(lesson, course, inbox, cluster, monkeypatch):
    address, workers = cluster
    for name, seconds in (("PATIENCE", 1.0), ("POLL", 0.5), ("FETCH", 0.5)):
        monkeypatch.setattr(f"autograder.gradebook.cluster.{name}", seconds)
    for n in range(6):
        hand_in(inbox, lesson, f"s{n}", notebook(lesson, exercise=f"# {n}"))

    def progress(done, total, result):
        for worker in workers:
            worker.kill()

    with pytest.raises(CourseError, match="has no worker"):
        grade_submissions(lesson, inbox, course, cluster=address, progress=progress)


def test_no_scheduler(lesson, course, inbox, monkeypatch):
    monkeypatch.setattr("autograder.gradebook.cluster.CONNECT", 1.0)
    hand_in(inbox, lesson, "ann", notebook(lesson))
    with pytest.raises(CourseError, match="No dask scheduler answers") as told:
        grade_submissions(lesson, inbox, course, cluster="tcp://127.0.0.1:1")
    assert "dask scheduler" in told.value.remedy


@pytest.mark.parametrize(
    "address",
    [
        "not an address",
        "localhost",
        "8786",
        "http://127.0.0.1:9",
        "tls://127.0.0.1:9",
        "inproc://x",
        "ucx://127.0.0.1:9",
    ],
)
def test_what_is_no_address_is_told_at_once_and_quietly(lesson, tmp_path, inbox, address, capfd):
    """A Client made with one ends after 20 seconds, in twenty lines of its own."""
    hand_in(inbox, lesson, "ann", notebook(lesson))
    start = time.monotonic()
    with pytest.raises(CourseError, match="No dask scheduler can be reached") as told:
        grade_submissions(lesson, inbox, CourseFolder(tmp_path / "fresh"), cluster=address)
    gc.collect()
    assert time.monotonic() - start < 10 and told.value.where == address and "tcp://host:8786" in told.value.remedy
    assert capfd.readouterr().err == "" and not (tmp_path / "fresh").exists(), "nothing half-written"
