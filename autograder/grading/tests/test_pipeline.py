"""One submission through the whole pipeline: the same every time, and never an error."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograder.answers
from autograder.grading import grade_notebook, pipeline, run
from autograder.grading.pipeline import rubric_hash
from autograder.grading.sandbox import Broken, Limits, Reply, Sandbox, launch
from autograder.lesson import load_lesson
from autograder.lesson.rubric import Text
from autograder.records import CheckOutcome, Result, SlotScore
from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import write_lesson
from tests.hostile.build import dump, honest


@pytest.fixture(autouse=True)
def no_text(monkeypatch):
    monkeypatch.setattr(
        autograder.answers,
        "score_many",
        lambda items, rubric, **_: [
            SlotScore(slot=slot, points=0, max_points=rubric.slots[slot].points, lane="auto") for slot, *_ in items
        ],
    )


def test_grading_again_gives_the_same(lesson, sandbox):
    data = dump(honest(lesson, "en"))
    one, two = (grade_notebook(lesson, data, "s", sandbox=sandbox) for _ in range(2))
    assert one == two and one.source_hash and one.rubric_hash == rubric_hash(lesson)


def test_path_and_bytes_are_graded_alike(lesson, sandbox, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(dump(honest(lesson, "zh")))
    assert (
        grade_notebook(lesson, path, "s", sandbox=sandbox)
        == grade_notebook(lesson, str(path), "s", sandbox=sandbox)
        == grade_notebook(lesson, path.read_bytes(), "s", sandbox=sandbox)
    )


def test_hidden_inputs_differ_between_programs_and_not_between_regrades():
    assert run.seeds("c", "one") == run.seeds("c", "one") != run.seeds("c", "two")
    assert len(set(run.seeds("c", "one"))) == run.ROUNDS >= 2


def test_no_hidden_value_reaches_the_student(lesson, sandbox):
    """Messages are told by kind: neither inputs, nor expected values, nor the text of an exception."""
    nb = honest(lesson, "en", fill="raise ValueError(f'{acc} {alpha} {beta} {c}')")
    result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
    said = " ".join(o.message.en for o in result.checks if o.message)
    assert "It raised ValueError." in said and not any(ch.isdigit() for ch in said)
    assert {o.kind for o in result.checks} == {"normal", "boundary", "own_case"}


def test_a_crash_on_boundary_inputs_costs_only_those(lesson, sandbox):
    nb = honest(lesson, "en", fill="while beta == 0:\n    pass\nreturn alpha * acc + beta * c")
    result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
    assert result.points["normal"] == 2 and result.points["boundary"] == 0


def test_a_sandbox_that_dies_is_told_to_a_person(lesson, sandbox, monkeypatch):
    def broken(*_):
        raise Broken("gone")

    monkeypatch.setattr(run, "run_checks", broken)
    monkeypatch.setattr(pipeline, "RAN", run.Remembered())
    result = grade_notebook(lesson, dump(honest(lesson, "en")), "s", sandbox=sandbox)
    assert "sandbox_failed" in [f.code for f in result.findings] and result.points["normal"] == 0


def test_a_machine_too_busy_to_run_a_fill_costs_no_points_unseen(lesson, monkeypatch):
    """The time is up long before the CPU limit: nothing is known of the fill, so a person looks, and its neighbours with the same line are tried again."""
    monkeypatch.setattr(pipeline, "RAN", run.Remembered())
    nb = dump(honest(lesson, "en", fill="while acc is not None:\n    pass"))
    with Sandbox(limits=Limits(cpu_s=30, wall_s=0.6)) as busy:
        result = grade_notebook(lesson, nb, "s", sandbox=busy)
    assert ("sandbox_failed", "review") in [(f.code, f.severity) for f in result.findings]
    assert not pipeline.RAN._known


def _descendants(pid):
    below = [int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]
    return below + [d for c in below for d in _descendants(c)]


@pytest.fixture()
def strike(monkeypatch):
    """strike(sandbox, signal, times, parent=False): at its next calls the fill process (or the sandbox's own) gets the signal, as from the system."""
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc")

    def arm(sandbox, number, times=1, parent=False):
        idle, real, left = {sandbox._process.pid, *_descendants(sandbox._process.pid)}, launch.Session.call, [times]

        def call(self, args):
            if left[0] and self.dead is None:
                left[0] -= 1
                for pid in [sandbox._process.pid] if parent else set(_descendants(sandbox._process.pid)) - idle:
                    os.kill(pid, number)
            return real(self, args)

        monkeypatch.setattr(launch.Session, "call", call)

    monkeypatch.setattr(pipeline, "RAN", run.Remembered())
    return arm


@pytest.mark.parametrize(
    ("number", "parent"),
    [(signal.SIGKILL, False), (signal.SIGSTOP, False), (signal.SIGSEGV, False), (signal.SIGKILL, True)],
)
def test_a_passing_trouble_of_the_machine_costs_nobody_anything(lesson, strike, number, parent):
    with Sandbox(limits=Limits(wall_s=1.5)) as box:
        strike(box, number, parent=parent)
        for _ in range(2):  # the one it struck, and the next with the same line
            result = grade_notebook(lesson, dump(honest(lesson, "en")), "s", sandbox=box)
            assert (result.state, result.points["normal"], result.points["boundary"]) == ("FAIL", 2, 1), result.findings
            assert not result.findings


def test_a_fill_that_something_ends_twice_goes_to_a_person(lesson, strike):
    with Sandbox() as box:
        strike(box, signal.SIGKILL, times=10)
        result = grade_notebook(lesson, dump(honest(lesson, "en")), "s", sandbox=box)
    assert ("sandbox_failed", "review") in [(f.code, f.severity) for f in result.findings]
    assert not pipeline.RAN._known


def test_what_may_be_the_machines_doing_is_kept_when_it_happens_twice(lesson, sandbox, monkeypatch):
    def crash(passed, doubtful):
        outcome = CheckOutcome(name=Text(zh="一", en="one"), kind="normal", passed=passed)
        return run.HiddenChecks([outcome], doubtful)

    for found, kept in (
        ([(False, True), (False, True)], False),
        ([(False, True), (True, False)], True),
        ([(False, True), (True, True)], None),
        ([(False, False)], False),
    ):
        replies = iter([crash(*f) for f in found])
        monkeypatch.setattr(run, "run_checks", lambda *_: next(replies))
        memory = run.Remembered()
        if kept is None:
            with pytest.raises(Broken):
                memory.run(lesson.checks, "c", "p", sandbox)
            assert not memory._known
        else:
            assert memory.run(lesson.checks, "c", "p", sandbox).passed("normal") is kept
            assert len(memory._known) == 1 and next(replies, None) is None


def test_a_fault_of_the_grader_is_ungraded_and_not_an_error(lesson, sandbox, monkeypatch):
    def faulty(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(autograder.answers, "score_many", faulty)
    result = grade_notebook(lesson, dump(honest(lesson, "en")), "s", sandbox=sandbox)
    assert result.state == "UNGRADED" and result.findings[0].code == "grader_error"
    assert result.why[0].isascii() and result.reasons == [f"{result.findings[0].message.zh} / {result.why[0]}"], (
        "the instructor's reason is English, the student's stands in both"
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_damage_never_raises_and_never_earns(lesson, sandbox, data):
    """Cells dropped, repeated, cut and swapped at random: a result every time, and never more than the honest one has."""
    nb = honest(lesson, data.draw(st.sampled_from(["zh", "en"])))
    for _ in range(data.draw(st.integers(1, 6))):
        cells = nb["cells"]
        if not cells:
            break
        i = data.draw(st.integers(0, len(cells) - 1))
        j = data.draw(st.integers(0, len(cells) - 1))
        match data.draw(st.sampled_from(["drop", "double", "swap", "cut", "kind", "strip", "text"])):
            case "drop":
                del cells[i]
            case "double":
                cells.insert(j, json.loads(json.dumps(cells[i])))
            case "swap":
                cells[i], cells[j] = cells[j], cells[i]
            case "cut":
                cells[i]["source"] = str(cells[i]["source"])[: data.draw(st.integers(0, 60))]
            case "kind":
                cells[i]["cell_type"] = data.draw(st.sampled_from(["code", "markdown", "raw", "heading", 5]))
            case "strip":
                cells[i]["metadata"] = data.draw(
                    st.sampled_from([{}, None, [], {"nbgrader": 3}, {"course": {"slot": ["q1"]}}])
                )
            case "text":
                cells[i]["source"] = data.draw(
                    st.sampled_from([None, 5, ["a", 3], "def linear_epilogue(", "my_case = ", "%%bash", "\x00"])
                )
    result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
    assert isinstance(result, Result) and result.points["normal"] <= 2 and result.points["boundary"] <= 1


def test_of_very_many_exercise_cells_the_last_ones_are_read(lesson, sandbox):
    nb = honest(lesson, "en")
    (cell,) = (c for c in nb["cells"] if "return alpha * acc" in "".join(c["source"]))
    at = nb["cells"].index(cell)
    wrong = dict(cell, source="".join(cell["source"]).replace("return ", "return 0.0 if True else "))
    nb["cells"][at : at + 1] = [dict(cell, id=f"copy-{n}") for n in range(50)] + [dict(wrong, id="last")]
    result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
    assert result.points["normal"] == 0
    told = [f.message.en for f in result.findings if f.code == "several_fills"]
    assert any("only the last 50" in t for t in told) and any("different answers" in t for t in told)


def test_raises_cases_and_untouched_arguments():
    case = {"raises": True, "args": {}}
    assert (
        run.judge(case, Reply("raised", detail="ValueError")) is None
        and run.judge(case, Reply("value", 1.0)) is not None
    )
    case = {"expect": 1.0, "untouched": ["c"], "args": {}}
    assert run.judge(case, Reply("value", 1.0)) is None
    assert "c must not be used" in run.judge(case, Reply("value", 1.0, touched=("c",))).en


def test_another_lesson_with_tuples(tmp_path, sandbox):
    """Nothing here is lesson 7's own: the fixture lesson returns tuples and has another signature."""
    lesson = load_lesson(write_lesson(tmp_path))
    from autograder.release.notebook import student_notebook

    for fill, normal, boundary in (("(step % stages, step // stages % 2)", 2, 1), ("(0, 0)", 0, 0)):
        nb = json.loads(json.dumps(student_notebook(lesson, "en")))
        for cell in nb["cells"]:
            if cell["id"] == "exercise":
                cell["source"] = cell["source"].replace("______", fill)
            if cell["id"] == "boundary-case":
                cell["source"] = "my_case = dict(step=3, stages=1)\nmy_prediction = (0, 1)"
        result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
        assert (result.points["normal"], result.points["boundary"]) == (normal, boundary), result.checks


def test_the_student_reads_his_language_and_the_instructor_english(lesson, sandbox):
    result = grade_notebook(lesson, dump(honest(lesson, "zh", fill="alpha * acc + beta * c")), "s", sandbox=sandbox)
    assert result.lang == "zh" and result.state == "FAIL"
    assert any("隐藏检查" in r for r in result.reasons)
    record = result.record()
    assert record.reasons == result.why == result.reasons_en and len(record.reasons) == len(result.reasons)
    assert not any("\u4e00" <= c <= "\u9fff" for text in (*record.reasons, *record.findings) for c in text)


def test_the_same_program_runs_once_and_another_on_its_own(lesson, sandbox, monkeypatch):
    ran = []

    def counted(checks, program, box, seeds):
        ran.append(program)
        return real(checks, program, box, seeds)

    real = run.run_checks
    monkeypatch.setattr(run, "run_checks", counted)
    monkeypatch.setattr(pipeline, "RAN", run.Remembered(most=2))
    guard = "alpha * acc if beta == 0 else alpha * acc + beta * c"
    one, same, wrong = (
        grade_notebook(lesson, dump(honest(lesson, "en", fill=fill)), "s", sandbox=sandbox)
        for fill in (guard, f"({guard})  # mine", "alpha * acc + beta * c")
    )
    assert len(ran) == 2 and one.checks == same.checks
    assert one.points["normal"] == 2 and wrong.points["boundary"] == 0
    grade_notebook(
        lesson, dump(honest(lesson, "en", fill="alpha * acc")), "s", sandbox=sandbox
    )  # pushes the oldest out
    grade_notebook(lesson, dump(honest(lesson, "en", fill=guard)), "s", sandbox=sandbox)
    assert len(ran) == 4


@pytest.mark.parametrize(
    "fill, code, severity",
    [
        ("(lambda text: alpha * acc if beta == 0 else alpha * acc + beta * c)('{}'.format(acc))", "refused", "review"),
        ("eval('alpha * acc if beta == 0 else alpha * acc + beta * c')", "refused", "info"),
        ("alpha.__class__(0)", "refused", "info"),
        ("guarded(acc, alpha, beta, c)", "outside_name", "review"),
        ("alpha * acc if beta == 0 or True or guarded else alpha * acc + beta * c", "outside_name", "review"),
        ("(True or guarded) and (alpha * acc if beta == 0 else alpha * acc + beta * c)", "outside_name", "info"),
    ],
)
def test_what_may_be_right_and_could_not_be_run_waits_for_a_person(lesson, sandbox, fill, code, severity):
    result = grade_notebook(lesson, dump(honest(lesson, "en", fill=fill)), "s", sandbox=sandbox)
    assert {f.code: f.severity for f in result.findings}[code] == severity
    assert (result.points["normal"] == 0.0) == (severity == "review" or code == "refused")


def test_a_line_that_the_rest_of_the_function_needs_is_missed(sandbox):
    """`complete = ______` and the line after it, written as one: the released line stands again after the blank and finds no value."""
    lesson = load_lesson("3")
    nb = student_notebook(lesson, "en")
    cell = next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "exercise")
    cell.source, before = (
        cell.source.replace("    complete = ______\n    if complete:", "    if pending == 0 and tx == 0:"),
        cell.source,
    )
    result = grade_notebook(lesson, dump(nb), "s", sandbox=sandbox)
    assert cell.source != before and ("missing_name", "review") in {(f.code, f.severity) for f in result.findings}


def test_what_one_grader_ran_another_need_not_run(lesson, sandbox, monkeypatch):
    here, there = run.Remembered(), run.Remembered()
    monkeypatch.setattr(pipeline, "RAN", here)
    wrong, twisted = (
        dump(honest(lesson, "en", fill=fill)) for fill in ("alpha * acc + beta * c", "np.multiply(acc, alpha, out=acc)")
    )
    results = [grade_notebook(lesson, data, "s", sandbox=sandbox) for data in (wrong, twisted)]
    news = json.loads(json.dumps(here.news()))
    assert len(news) == 2 and here.news() == {}
    there.learn(news)
    monkeypatch.setattr(pipeline, "RAN", there)
    monkeypatch.setattr(run, "run_checks", None)  # a second run would fail
    assert [grade_notebook(lesson, data, "s", sandbox=sandbox) for data in (wrong, twisted)] == results
    assert there.news() == {}, "what it was told is no news of its own"
    key, told = next(iter(news.items()))
    there.learn({key: told | {"doubtful": not told["doubtful"]}})
    assert run._HIDDEN_CHECKS.dump_python(there._known[key], mode="json") == told, "what is known already stays"


def test_what_a_broken_sandbox_left_is_not_remembered(lesson, sandbox, monkeypatch):
    def once_broken(*args):
        if not tried:
            tried.append(1)
            raise Broken("gone")
        return real(*args)

    tried, real = [], run.run_checks
    monkeypatch.setattr(run, "run_checks", once_broken)
    monkeypatch.setattr(pipeline, "RAN", run.Remembered())
    result = grade_notebook(lesson, dump(honest(lesson, "en")), "s", sandbox=sandbox)
    assert result.points["normal"] == 2 and not any(f.code == "sandbox_failed" for f in result.findings)
