"""formgrader itself, in a real browser: it opens our notebooks, a score typed there wins and survives a regrade, nothing of a student's runs."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook.final import final_results
from autograder.gradebook.run import grade_submissions
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook, result, slot
from tests.support.browser import chromium

pytestmark = pytest.mark.browser
EVIL = "<script>window.pwned = 1</script> <img src=x onerror='window.pwned = 2'> $\\href{javascript:1}{x}$ my answer, because **c** is not read"
SHOTS = os.environ.get("FORMGRADER_SHOTS")  # a folder for pictures to look at


@contextlib.contextmanager
def formgrader(course):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    bin_folder = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": bin_folder + os.pathsep + os.environ["PATH"],
        "JUPYTER_CONFIG_DIR": str(course.root / ".jupyter"),
        "HOME": str(course.root),
    }
    arguments = [
        "--no-browser",
        f"--ServerApp.port={port}",
        "--ServerApp.token=",
        "--ServerApp.password=",
        "--ServerApp.allow_root=True",
        "--ServerApp.ip=127.0.0.1",
    ]
    extension = "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"
    log = (course.root / "server.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", *arguments, extension],
        cwd=course.root,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(150):
            try:
                urllib.request.urlopen(f"{url}/formgrader/api/status", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (course.root / "server.log").read_text()
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def test_score_typed_in_formgrader(lesson, course, inbox):
    hand_in(inbox, lesson, "ann", notebook(lesson, q1=EVIL))
    hand_in(inbox, lesson, "bob", b"broken")
    doubt = result(lesson, "ann", state="REVIEW", slots={"q1": slot(lesson, "q1", 1.0, lane="review")}, reasons=[EVIL])
    verdicts = {"ann": doubt, "bob": result(lesson, "bob", state="UNGRADED")}
    grader = FakeGrader(lesson, lambda s, _: verdicts[s])
    grade_submissions(lesson, inbox, course, grader=grader)
    with Gradebook(course.db_url) as gb:
        ids = {s: gb.find_submission_notebook(lesson.slug, lesson.slug, s).id for s in verdicts}

    with formgrader(course) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 1600})
        page.goto(f"{url}/formgrader/gradebook/{lesson.slug}/{lesson.slug}")
        page.wait_for_selector("text=Submission #1")
        _shot(page, "list")
        page.goto(f"{url}/formgrader/submissions/{ids['ann']}/")
        box = page.wait_for_selector("input.score#q1")
        assert page.locator("input.score").count() == 6
        assert "my answer, because" in page.inner_text("body")
        assert page.evaluate("window.pwned") is None
        _shot(page, "submission")
        with page.expect_response(lambda r: "/api/grade/" in r.url and r.request.method == "PUT"):
            box.fill("2")
            box.press("Tab")
        with page.expect_response(lambda r: "/api/comment/" in r.url and r.request.method == "PUT"):
            comment = page.locator("textarea#q1-comment")
            comment.fill("Confirmed in person.")
            comment.blur()
        page.goto(f"{url}/formgrader/submissions/{ids['bob']}/")
        assert "The file is not a notebook." in page.inner_text("body")

    final = {f.result.student: f for f in final_results(course, lesson)}
    assert final["ann"].human.manual == {"q1": 2.0} and final["ann"].human.comments == {"q1": "Confirmed in person."}
    assert (final["ann"].result.state, final["ann"].result.total) == ("PASS", 10.0)
    grade_submissions(lesson, inbox, course, grader=grader, regrade=True)
    after = {f.result.student: f.result for f in final_results(course, lesson)}
    assert (after["ann"].state, after["ann"].points["q1"], after["bob"].state) == ("PASS", 2.0, "UNGRADED")


def _shot(page, name):
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/formgrader-{name}.png", full_page=True)
