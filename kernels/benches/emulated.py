"""Data of lessons 3 and 6 that come from the emulator's traces: barrier states, wrong expectations, timelines, defects by seed. Needs no GPU.

    python -m kernels.benches.emulated figures/data

writes the same form of file as a Bench: what, fields, points, receipt (back end "emulator", with seed and policy).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels import races
from kernels.compare import challenge_source
from kernels.emulator.trace import barrier_steps
from kernels.errors import KernelError
from kernels.kernel import Kernel, load
from kernels.specs import barriers, ring_pipeline
from kernels.specs.gemm import TILE_K

HANDSHAKE_SEED = 7  # of policy random: a first half lands before it is expected
K_BLOCKS = 8
EXPECTED, LANDING = (512, 768, 1024, 1536), 1024  # bytes that FULL expects, and those that land: two copies of 512
DEFECTS = (None, "no_empty_wait", "no_phase_bit", "empty_before_wgmma_wait")
SEEDS = 6


def handshake() -> tuple[list[dict], dict]:
    """Every event of every barrier of one strip of three boxes, with the state before and after."""
    kernel = load("mbarrier_handshake", "emulator", trace=True, seed=HANDSHAKE_SEED, policy="random")
    (x,), _ = barriers.example_handshake(np.random.default_rng(0), 3 * barriers.BOX_ROWS, barriers.BOX_COLUMNS)
    kernel(x)
    points = []
    for s in barrier_steps(kernel.report.trace):
        point = {
            "step": s.time,
            "barrier": s.barrier.split()[-1],
            "who": s.who.removeprefix("block (0,0) "),
            "arrivals": s.event[0],
            "bytes": s.event[1],
        }
        for when, (pending, tx, phase, _) in (("before", s.before), ("after", s.after)):
            point |= {f"pending_{when}": pending, f"tx_{when}": tx, f"phase_{when}": phase}
        points.append(point | {"count": s.before[3], "completes": int(s.completes), "line": s.line})
    return points, kernel.receipt.to_dict()


def expectations() -> tuple[list[dict], dict]:
    """FULL[0] of the handshake where its producer expects too few bytes, the right number, too many: every event, and how the run ends."""
    (x,), _ = barriers.example_handshake(np.random.default_rng(0), 3 * barriers.BOX_ROWS, barriers.BOX_COLUMNS)
    points, right = [], None
    for expected in EXPECTED:
        line = (
            {}
            if expected == LANDING
            else {"source": challenge_source("mbarrier_handshake", f"uint32_t expected = {expected};")}
        )
        kernel = load("mbarrier_handshake", "emulator", **line, trace=True, seed=HANDSHAKE_SEED, policy="random")
        try:
            kernel(x)
        except KernelError:  # what the run is about: the report holds it
            pass
        right = right if line else kernel
        for s in barrier_steps(kernel.report.trace):
            if s.barrier.endswith(" FULL[0]"):
                point = {
                    "expected": expected,
                    "arrivals": s.event[0],
                    "bytes": s.event[1],
                    "pending": s.after[0],
                    "tx": s.after[1],
                    "phase": s.after[2],
                }
                points.append(point | {"completes": int(s.completes), "end": kernel.report.status})
    return points, right.receipt.to_dict()


def timelines() -> tuple[list[dict], dict]:
    """Copies, multiplications and waits of one block by the emulator's nominal clock, for 1 to 7 stages."""
    points = []
    for stages in range(1, ring_pipeline.MOST_STAGES + 1):
        kernel = load("ring_pipeline", "emulator", trace=True, policy="timed")
        given, params = ring_pipeline.example(np.random.default_rng(0), 128, 128, K_BLOCKS * TILE_K, stages)
        kernel(*given, **params)
        points += [{"stages": stages, **p} for p in _rows(kernel, stages)]
    return points, kernel.receipt.to_dict()


def _rows(kernel: Kernel, stages: int) -> list[dict]:
    trace, points = kernel.report.trace, []
    loads = [e for e in trace if e.kind == "tma_load"]
    for k in range(K_BLOCKS):  # a stage is filled by two boxes
        pair = [e for e in loads if e.data["x"] == k * TILE_K]
        points.append(
            {
                "row": "copy",
                "k": k,
                "stage": k % stages,
                "begin": min(e.time for e in pair),
                "end": max(e.end for e in pair),
            }
        )
    for group in (1, 2):
        steps = sorted((e.time, e.end) for e in trace if e.kind == "wgmma" and e.who.endswith(f"warpgroup {group}"))
        for k in range(K_BLOCKS):  # a k-block is four instructions
            four = steps[4 * k : 4 * k + 4]
            points.append(
                {"row": f"multiply {group}", "k": k, "stage": k % stages, "begin": four[0][0], "end": four[-1][1]}
            )
    for row, warp, barrier in (
        ("producer waits", 0, "EMPTY"),
        ("consumer 1 waits", 4, "FULL"),
        ("consumer 2 waits", 8, "FULL"),
    ):
        waits = sorted(
            {
                (e.time, e.end, e.what)
                for e in trace
                if e.kind == "wait"
                and e.who.endswith(f" warp {warp}")
                and e.what.startswith(barrier)
                and e.end > e.time
            }
        )
        points += [
            {"row": row, "k": -1, "stage": int(what[len(barrier) + 1 : -1]), "begin": begin, "end": end}
            for begin, end, what in waits
        ]
    return points


def seeds() -> tuple[list[dict], dict]:
    """The ring with and without its defects, over schedules and seeds, checks off and on."""
    points, receipt = [], None
    for bug in DEFECTS:
        given, params = races.arguments("ring_pipeline", bug or "no_phase_bit")
        for policy in (races.FRIENDLY, *races.ADVERSARIAL, "random"):
            for seed in range(SEEDS):
                off, on = (
                    races.run_once("ring_pipeline", bug, policy, seed, checks, given, params, 20.0).status
                    for checks in (False, True)
                )
                points.append({"bug": bug or "none", "policy": policy, "seed": seed, "unchecked": off, "checked": on})
    kernel = load("ring_pipeline", "emulator", seed=0, policy="random")
    kernel(*given, **params)
    receipt = kernel.receipt.to_dict() | {
        "command": f"{SEEDS} seeds of each policy and defect, as `course races ring_pipeline --bug NAME`"
    }
    return points, receipt


FILES: dict[str, tuple[str, Callable, dict[str, str]]] = {
    "lesson03_barrier_states": (
        "mbarrier_handshake on the emulator, three boxes: every event of FULL and EMPTY with the state before and after it",
        handshake,
        {
            "step": "scheduler step",
            "barrier": "which",
            "who": "warp, or the copy engine (TMA)",
            "arrivals": "arrivals of the event",
            "bytes": "above 0: expected; below 0: landed",
            "pending_before, tx_before, phase_before": "the state before: arrivals missing, bytes expected less landed, phase bit",
            "pending_after, tx_after, phase_after": "the state after",
            "count": "arrivals a phase",
            "completes": "1: the event completed a phase",
            "line": "of mbarrier_handshake.cu, 0 for a landing",
        },
    ),
    "lesson03_expectations": (
        "FULL[0] of mbarrier_handshake on the emulator, by the bytes that its producer expects of two copies of 512 each; the receipt is of the right number's run",
        expectations,
        {
            "expected": "bytes that arrive.expect_tx names",
            "arrivals": "arrivals of the event",
            "bytes": "above 0: expected; below 0: landed",
            "pending, tx, phase": "the state after it: arrivals missing, bytes expected less landed, phase bit",
            "completes": "1: the event completed a phase",
            "end": "how the run ended",
        },
    ),
    "lesson06_timeline": (
        f"ring_pipeline on the emulator's nominal clock, one block, {K_BLOCKS} k-blocks, 1 to 7 stages: when what ran (not a measurement)",
        timelines,
        {
            "stages": "of the ring",
            "row": "copy; multiply 1, 2: a consumer's wgmmas; ... waits: blocked on EMPTY or FULL",
            "k": "k-block, -1 for waits",
            "stage": "index in the ring",
            "begin": "nominal cycles",
            "end": "nominal cycles",
        },
    ),
    "lesson06_seeds": (
        "ring_pipeline with and without its defects on the emulator, by schedule and seed, checks off and on",
        seeds,
        {
            "bug": "the defect built in",
            "policy": "schedule",
            "seed": "of the schedule",
            "unchecked": "what came of it with the checks off",
            "checked": "and on",
        },
    ),
}


def main(folder: str) -> None:
    """Write the files into the folder."""
    for name, (what, make, fields) in FILES.items():
        points, receipt = make()
        record = {"name": name, "what": what, "fields": fields, "points": points, "receipt": receipt}
        Path(folder, f"{name}.json").write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        print(f"{name}: {len(points)} points")


if __name__ == "__main__":
    main(sys.argv[1])
