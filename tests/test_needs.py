"""What a run of the tests says about what it could not test."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.needs import NEEDS, lines

ROOT = Path(__file__).parents[1]


def test_a_line_for_each_thing_missing_and_then_for_each_other_reason():
    said = lines(["needs /proc", "needs bubblewrap", "needs browser", "needs bubblewrap", "all lessons are there"])
    assert len(said) == 4
    assert (
        said[0].startswith("2 tests not run: no bubblewrap here.")
        and "apt install bubblewrap" in said[0]
        and "the jail" in said[0]
    )
    assert said[1].startswith("1 test not run: no Chromium here.")
    assert said[2:] == ["1 test not run: all lessons are there", "1 test not run: needs /proc"]
    assert lines([]) == []


def test_a_test_without_what_it_needs_is_skipped_and_told_at_the_end(tmp_path):
    """Of a PATH with nothing on it but Python."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "autograder/grading/tests/test_challenge_jail.py",
        "-k",
        "flood or elsewhere or no_compiler",
    ]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0 and "3 skipped" in done.stdout, done.stdout + done.stderr
    (line,) = [x for x in done.stdout.splitlines() if "not run: " in x]
    assert line.startswith("3 tests not run: no bubblewrap here. It would add " + NEEDS["bubblewrap"].adds)


def test_every_need_is_some_tests_marker():
    """A need that no test has would promise what nobody tests."""
    text = "".join(
        p.read_text(encoding="utf-8")
        for folder in ("autograder", "kernels", "tests")
        for p in (ROOT / folder).rglob("test_*.py")
    )
    assert [key for key in NEEDS if f"pytest.mark.{key}" not in text] == []
