"""`course demo` on the sample class: the verdict of each student is the one he was made for, and all the files are there."""

import json
import re

import pytest
from typer.testing import CliRunner

from autograder import site
from autograder.commands import demo
from autograder.lesson import load_lesson


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    import typer

    out = tmp_path_factory.mktemp("demo")
    app = typer.Typer(add_completion=False)
    app.command()(demo.command)
    with pytest.MonkeyPatch.context() as patch:  # the website has tests of its own
        patch.setattr(site, "build_site", lambda out, **kwargs: site.build.Built(out, "none", 0))
        first = CliRunner().invoke(app, ["--out", str(out)])
        second = CliRunner().invoke(app, ["--out", str(out)])
    return out, first, second


def test_every_verdict_is_what_the_student_was_made_for(run):
    out, first, _ = run
    assert first.exit_code == 0, first.output[-2000:]
    assert re.search(r"(\d+) of \1 verdicts are what the class was made for", first.output)


def test_the_class_holds_what_the_issue_asks_for(run):
    records = {r["student"]: r for r in json.loads((run[0] / "verdicts.json").read_text(encoding="utf-8"))}
    assert len(records) >= 16
    assert {r["state"] for r in records.values()} == {"PASS", "FAIL", "REVIEW", "UNGRADED"}
    assert {8.0, 10.0} <= {r["total"] for r in records.values() if r["state"] == "PASS"}
    assert any(r["total"] == 7 and r["state"] == "FAIL" and not r["veto"] for r in records.values())
    assert sum(bool(r["veto"]) for r in records.values()) >= 6
    for r in records.values():
        assert set(r) == {"student", "state", "total", "points", "veto", "findings", "reasons", "provisional"}
        assert set(r["points"]) == {"normal", "boundary", "explanation", "q1", "q2", "q3"}


def test_gradebook_feedback_report_and_exports_are_written(run):
    out, course = run[0], run[0] / "course"
    lesson = load_lesson("7")
    assert (course / "gradebook.db").stat().st_size > 0
    pages = list((course / "feedback").glob(f"*/{lesson.slug}/{lesson.slug}.html"))
    assert len(pages) == len(json.loads((out / "verdicts.json").read_text(encoding="utf-8")))
    assert len(list((course / "grading").glob("*.csv"))) == 3 and list((course / "grading").glob("*report.html"))
    assert list((course / "bundles").glob("*.zip"))


def test_a_second_run_grades_nothing_again(run):
    _, first, second = run
    assert second.exit_code == 0
    count = re.search(r"of (\d+) verdicts", first.output)[1]
    assert f"{count} graded now, 0 unchanged" in first.output
    assert f"0 graded now, {count} unchanged" in second.output and f"{count} of {count} verdicts" in second.output
