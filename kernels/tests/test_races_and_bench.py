"""The sweep over seeds, the measurements' files, and the commands run, races and bench."""

import json

import numpy as np
import pytest

from autograder.cli import run as course
from kernels import ArgumentError, KernelError, bench, gpu, races
from kernels.sources import CUDA_DIR

DATA = CUDA_DIR.parents[1] / "figures" / "data"


def command(capsys, *argv):
    """(exit status, output) of `course ARGV`."""
    with pytest.raises(SystemExit) as e:
        course(list(argv))
    said = capsys.readouterr()
    return e.value.code or 0, " ".join((said.out + said.err).split())


# ---------------------------------------------------------------------------------------------- races
def test_a_defect_is_reported_at_every_seed_and_the_right_kernel_nowhere():
    for bug in (None, "no_beta_guard"):
        sizes = {"m": 9, "n": 7}
        found = races.sweep("linear_epilogue", bug, 2, ("friendly", "late"), sizes=sizes)
        assert [(o.policy, o.checks, o.seed) for o in found] == [
            (p, c, s) for p in ("friendly", "late") for c in (False, True) for s in (0, 1)
        ]
        assert {o.status for o in found if o.checks} == ({"right"} if bug is None else {"out_of_bounds"})
        assert all(o.error < 1e-6 for o in found if o.right)


def test_wrong_numbers_are_told_from_right_ones():
    given, params = races.arguments("linear_epilogue", None, m=5, n=7, beta=0.0)
    params["c"] = np.full((5, 7), np.nan, np.float32)
    assert races.run_once("linear_epilogue", "no_beta_guard", "rr", 0, False, given, params).status == "wrong numbers"
    assert races.run_once("linear_epilogue", None, "rr", 0, False, given, params).right


def test_course_races(capsys):
    status, said = command(
        capsys, "races", "linear_epilogue", "--bug", "no_beta_guard", "--seeds", "2", "--policy", "friendly"
    )
    assert (
        status == 0
        and "out of bounds 2 (seeds 0-1)" in said
        and "a null pointer, at epilogue.cuh:" in said
        and "2 of 2 were reported" in said
    )
    status, said = command(capsys, "races", "linear_epilogue", "--seeds", "1", "--policy", "late")
    assert status == 0 and "2 of 2 runs were clean and right" in said
    status, said = command(capsys, "races", "linear_epilogue", "--bug", "nope")
    assert status == 1 and "no defect named 'nope'. It has: no_beta_guard." in said


# ---------------------------------------------------------------------------------------------- run
def test_course_run(capsys):
    status, said = command(
        capsys,
        "run",
        "linear_epilogue",
        "--backend",
        "emulator",
        "--size",
        "m=5",
        "--size",
        "act=silu",
        "--seed",
        "3",
        "--policy",
        "pct",
    )
    assert status == 0 and ": right" in said and "seed 3, policy pct" in said and "<fp32 5x251>" in said
    status, said = command(capsys, "run", "linear_epilogue", "--bug", "no_beta_guard", "--seed", "0")
    assert status == 1 and "OUT OF BOUNDS" in said and "0 * NaN is NaN" in said
    status, said = command(capsys, "run")
    assert status == 0 and "gemm_epilogue" in said and "no_beta_guard" in said


@pytest.mark.parametrize(
    "argv,words",
    [
        (["nope"], "There is no kernel named 'nope'"),
        (["linear_epilogue", "--policy", "nope"], "Schedules: friendly"),
        (["linear_epilogue", "--size", "m"], "--size m is not NAME=VALUE"),
        (["linear_epilogue", "--size", "q=3"], "has no setting q. It takes: m, n, out, act, beta."),
        (["linear_epilogue", "--size", "act=tanh"], "act must be one of"),
        (["linear_epilogue", "--backend", "tpu"], "names no back end"),
    ],
)
def test_course_run_with_bad_input(capsys, argv, words):
    status, said = command(capsys, "run", *argv)
    assert status == 1 and words in said


# ---------------------------------------------------------------------------------------------- bench
def test_select():
    names = {b.name for b in bench.select(["linear_epilogue"])}
    assert "lesson07_beta_guard" in names and "lesson07_accumulation_error" not in names
    assert [b.name for b in bench.select(["lesson07_beta_guard"])] == ["lesson07_beta_guard"]
    assert len(bench.select([])) == len(bench.benches())
    with pytest.raises(KernelError, match="Nothing measures 'nope'"):
        bench.select(["nope"])


def test_summary():
    s = bench.summary([3.0, 1.0, 2.0, 10.0])
    assert s == {"ms": 2.5, "ms_min": 1.0, "ms_p10": 1.0, "ms_p90": 10.0, "readings": 4}
    assert bench.summary([5.0, 1.0, 2.0])["ms"] == 2.0


@pytest.fixture
def session(monkeypatch):
    device = gpu.Device(True, "An H200 is here.", "NVIDIA H200", "13.0", (9, 0), 132)
    monkeypatch.setattr(gpu, "require", lambda: device)
    monkeypatch.setenv("COURSE_COMMIT", "c0ffee")
    return bench.Session(say=lambda text: None)


def test_a_bench_writes_points_with_a_receipt_or_nothing(tmp_path, session):
    made = bench.Bench("b", "what it measures", ("linear_epilogue",), lambda s: [{"x": 1.5}], {"x": "a number"})
    record = json.loads(bench.run_bench(made, tmp_path / "new", session).read_text())
    assert record["points"] == [{"x": 1.5}] and record["fields"] == {"x": "a number"}
    r = record["receipt"]
    assert (r["backend"], r["device"]) == ("gpu", "NVIDIA H200") and "CUDA 13.0" in r["driver"]
    assert r["commit"] == "c0ffee" and r["command"] == "course bench b" and set(r["sources"]) == {"linear_epilogue"}
    for run in (lambda s: [{"x": float("nan")}], lambda s: 1 / 0):
        with pytest.raises((ValueError, ZeroDivisionError)):
            bench.run_bench(bench.Bench("c", "", ("linear_epilogue",), run), tmp_path / "new", session)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["b.json"]


def test_one_failed_measurement_does_not_cost_the_others(tmp_path, session, monkeypatch, capsys):
    def fails(s):
        raise KernelError("the device is on fire")

    made = {n: bench.Bench(n, "", ("linear_epilogue",), run) for n, run in (("a", fails), ("b", lambda s: [{"x": 1}]))}
    monkeypatch.setattr(bench, "benches", lambda: made)
    status, said = command(capsys, "bench", "--out", str(tmp_path))
    assert status == 1 and "the device is on fire" in said and "1 of 2 measurements failed: a." in said
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]


def test_course_bench_without_a_gpu_says_so(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "probe", lambda: gpu.Device(False, "No NVIDIA driver is installed here."))
    status, said = command(capsys, "bench", "--out", str(tmp_path))
    assert status == 1 and "No NVIDIA driver" in said and not list(tmp_path.iterdir())
    status, said = command(capsys, "bench")
    assert status == 1 and "--out DIR" in said
    status, said = command(capsys, "bench", "--list")
    assert status == 0 and "lesson07_beta_guard" in said


@pytest.mark.parametrize("path", sorted(DATA.glob("lesson07_*.json")), ids=lambda p: p.stem)
def test_committed_measurements_have_a_receipt_and_explain_their_fields(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    made = bench.benches()[record["name"]]
    assert record["name"] == path.stem and record["points"]
    r = record["receipt"]
    assert (
        "H200" in r["device"]
        and r["driver"]
        and r["time"].endswith("Z")
        and len(r["commit"]) == 40
        and "-dirty" not in r["commit"]
    )
    assert set(r["sources"]) == set(made.kernels)
    obvious = {"kernel", "out", "act", "bias", "operands", "tool", "version", "bug", "ran_to_the_end"}
    assert {k for p in record["points"] for k in p} <= set(record["fields"]) | obvious


@pytest.mark.parametrize("sizes", [{"m": -5}, {"m": "many"}, {"out": "fp8"}])
def test_sizes_that_give_no_example(sizes):
    with pytest.raises(ArgumentError, match=next(iter(sizes))):
        races.run_once("gemm_epilogue", None, "random", 0, True, *races.arguments("gemm_epilogue", **sizes))
