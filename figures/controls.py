"""What the pages' moving controls are drawn from: measured files, and runs of the emulator. `python -m figures controls` writes it.

A control of a lesson is lessons/<lesson>/assets/controls/<name>.json, made here, and autograder/site/assets/controls/<name>.js, which
draws it. Nothing in these files is a formula of an exercise: what a blank asks for is given as a table that a device or the emulator
filled. A test makes them again and compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from figures.build import HERE, ROOT

SEEDS = range(16)
EXPECTED = (0, 512, 768, 1024, 1536)
K_BLOCKS, TILE_K = 8, 64
RING_STAGES = (2, 3, 4)
RING_BUGS = (None, "no_empty_wait", "no_phase_bit", "empty_before_wgmma_wait")
RING_SEEDS = {"timed": (0,), "friendly": (0,), "random": (0, 1, 2, 3), "lazy_mma": (0, 1)}


def _measured(name: str) -> dict:
    return json.loads((HERE / "data" / f"{name}.json").read_text(encoding="utf-8"))


def _receipt(*names: str) -> dict:
    first = _measured(names[0])["receipt"]
    return {"device": first["device"], "date": first["time"][:10], "files": [f"{n}.json" for n in names]}


def roofline() -> dict:
    """Two level roofs, one slope, and what was measured under them: [name, FLOP/byte, TFLOP/s]."""
    points = _measured("lesson01_roofline")["points"]
    roof = {
        u: max(p["flop_per_s"] for p in points if p["unit"] == u and not p["bytes"]) / 1e12 for u in ("fp32", "bf16")
    }
    copy = next(p["tb_per_s"] for p in points if p["unit"] == "copy")
    shown = [
        [p["unit"], p["variant"], round(p["intensity"], 3), round(p["flop_per_s"] / 1e12, 2)]
        for p in points
        if p["intensity"] and p["flops"]
    ]
    return {"roofs": {k: round(v, 1) for k, v in roof.items()}, "bandwidth": round(copy, 3), "points": shown} | {
        "receipt": _receipt("lesson01_roofline")
    }


def little() -> dict:
    """stream_copy: [bytes a load, loads, warps, bytes in flight an SM, TB/s read + written]; the copy's TB/s."""
    points = _measured("lesson02_stream")["points"]
    copy = next(p["tb_per_s"] for p in points if p["variant"] == "device copy")
    keys = ("width", "loads", "warps", "bytes_in_flight")
    rows = [[*(p[k] for k in keys), round(p["tb_per_s"], 3)] for p in points if p["width"]]
    return {"copy": round(copy, 3), "sms": 132, "points": rows, "receipt": _receipt("lesson02_stream")}


def barrier() -> dict:
    """mbarrier_handshake by seed and by the bytes that FULL expects: every event of its barriers.

    runs: {"seed/expected": {"end": status, "rules": [..], "events": [[barrier, who, line, arrivals, bytes, before, after, completes]]}}
    with states (pending, tx, phase, count).
    """
    from kernels.compare import challenge_source
    from kernels.emulator.trace import barrier_steps
    from kernels.errors import KernelError
    from kernels.kernel import load

    x = np.arange(24 * 32, dtype=np.float32).reshape(24, 32)
    runs = {}
    for expected in EXPECTED:
        source = challenge_source("mbarrier_handshake", f"uint32_t expected = {expected};")
        for seed in SEEDS:
            kernel = load("mbarrier_handshake", "emulator", source=source, seed=seed, policy="random", trace=True)
            try:
                kernel(x)
            except KernelError:  # the report says what happened
                pass
            report = kernel.report
            events = [
                [
                    s.barrier.split()[-1],
                    s.who.removeprefix("block (0,0) "),
                    s.line,
                    *s.event,
                    s.before,
                    s.after,
                    int(s.completes),
                ]
                for s in barrier_steps(report.trace)
            ]
            rules = list(dict.fromkeys(f.rule for f in report.findings))
            runs[f"{seed}/{expected}"] = {"end": report.status, "rules": rules, "events": events}
    return {"seeds": list(SEEDS), "expected": list(EXPECTED), "runs": runs, "file": "mbarrier_handshake.cu"}


def swizzle() -> dict:
    """Where the copy engine puts each 4-byte word of a 64 x 32 tile: place[0] row after row, place[128] as the emulator's copy landed."""
    from kernels.kernel import load

    x = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    _, image = load("tma_tile_copy", "emulator")(x, np.ones(64, np.float32), np.zeros(32, np.float32))
    landed = image[0].reshape(-1).view(np.float32).astype(int)
    return {"rows": 32, "place": {"0": list(range(32 * 32)), "128": np.argsort(landed)[: 32 * 32].tolist()}}


def fragment() -> dict:
    """The 64 x 16 accumulator tile as the device's registers hold it: map[thread] = row * 16 + column of each register."""
    table = [[0] * 8 for _ in range(128)]
    for p in _measured("lesson05_fragment_map")["points"]:
        table[p["thread"]][p["register"]] = p["row"] * 16 + p["column"]
    return {"map": table, "columns": 16, "receipt": _receipt("lesson05_fragment_map")}


def ring() -> dict:
    """ring_pipeline, one block of 8 k-blocks, with and without its defects, checks on.

    runs: {"stages/bug/policy/seed": {"end": status, "time": last end, "rows": [[row, k, stage, begin, end, red]], "report": message}}; row 0:
    copy, 1 and 2: a consumer's products. red: this copy lands in a stage that is still being read, or this product reads such a stage.
    """
    from kernels.errors import KernelError
    from kernels.kernel import load
    from kernels.specs import ring_pipeline

    runs = {}
    for stages in RING_STAGES:
        given, params = ring_pipeline.example(np.random.default_rng(0), 128, 128, K_BLOCKS * TILE_K, stages)
        for bug in RING_BUGS:
            for policy, seeds in RING_SEEDS.items():
                for seed in seeds:
                    how = {"bug": bug} if bug else {}
                    kernel = load("ring_pipeline", "emulator", trace=True, policy=policy, seed=seed, **how)
                    try:
                        kernel(*given, **params)
                    except KernelError:
                        pass
                    report = kernel.report
                    rows = _ring_rows(report.trace, stages)
                    first = next(iter(report.findings), None)
                    runs[f"{stages}/{bug or 'none'}/{policy}/{seed}"] = {
                        "end": report.status,
                        "time": max([r[4] for r in rows] or [0]),
                        "rows": rows,
                        "report": first.message if first else "",
                    }
    return {
        "stages": list(RING_STAGES),
        "bugs": [b or "none" for b in RING_BUGS],
        "policies": {p: list(s) for p, s in RING_SEEDS.items()},
        "runs": runs,
    }


def _ring_rows(trace, stages: int) -> list[list]:
    rows = []
    loads = [e for e in trace if e.kind == "tma_load"]
    for k in range(K_BLOCKS):  # a stage is filled by two boxes
        if pair := [e for e in loads if e.data["x"] == k * TILE_K]:
            rows.append([0, k, k % stages, min(e.time for e in pair), max(e.end for e in pair), 0])
    for group in (1, 2):
        steps = sorted((e.time, e.end) for e in trace if e.kind == "wgmma" and e.who.endswith(f"warpgroup {group}"))
        for k in range(len(steps) // 4):  # a k-block is four instructions
            four = steps[4 * k : 4 * k + 4]
            rows.append([group, k, k % stages, four[0][0], four[-1][1], 0])
    for copy in (r for r in rows if r[0] == 0):
        for read in (r for r in rows if r[0] and r[2] == copy[2] and r[1] < copy[1]):
            if copy[3] < read[4]:
                copy[5] = read[5] = 1
    return rows


def error() -> dict:
    """Relative error of dot products over K, by what accumulates: {series: [[K, error or null]]}."""
    series: dict[str, list] = {}
    for p in _measured("lesson07_accumulation_error")["points"]:
        name = p["accumulator"] + (f" {p['promote_k']}" if p["promote_k"] else "")
        series.setdefault(f"{p['operands']}, {name}", []).append([p["k"], p["norm_error"], p["max_error"]])
    return {"series": series, "receipt": _receipt("lesson07_accumulation_error")}


def dispatch() -> dict:
    """The configurations, and at each measured shape the microseconds of each and of cuBLAS."""
    from kernels.dispatch_table import measured
    from kernels.specs.gemm_dispatch import CONFIGS

    configs = {c.name: [c.tile_m, c.tile_n, c.stages, c.blocks] for c in CONFIGS.values()}
    shapes = [[s.m, s.n, {k: round(v, 2) for k, v in s.times.items()}, s.best] for s in measured("grid")]
    return {"configs": configs, "shapes": shapes, "sms": 132, "receipt": _receipt("lesson08_configurations")}


def waves() -> dict:
    """Three tiles and cuBLAS at M = 1024, K = 4096 over N: {config: [[N, tiles, TFLOP/s]]}."""
    series: dict[str, list] = {}
    for p in _measured("lesson08_waves")["points"]:
        series.setdefault(p["config"], []).append([p["n"], p["tiles"], round(p["tflop_per_s"], 1)])
    return {"series": series, "sms": 132, "receipt": _receipt("lesson08_waves")}


def home_ring() -> dict:
    """The home page's two runs of the ring: as it is, and with the wait for the wgmmas taken out."""
    runs = ring()["runs"]
    return {name: runs[f"3/{bug}/timed/0"] for name, bug in (("right", "none"), ("race", "empty_before_wgmma_wait"))}


def home_ladder() -> dict:
    """The GEMM ladder at one shape: [[kernel, TFLOP/s, cuBLAS's in turn]]."""
    from figures import overview_gemm_ladder as ladder

    d = ladder.data(_measured("gemm_ladder"))
    return {
        "rungs": [[r["rung"], round(r["tflops"], 1), round(r["cublas_tflops"], 1)] for r in d["rungs"]],
        "ideas": {lang: ladder.WORDS[lang]["ideas"] for lang in ladder.WORDS},
        "receipt": _receipt("gemm_ladder"),
    }


CONTROLS: dict[str, tuple[str, Callable[[], dict]]] = {
    "roofline": ("lesson01_roofline", roofline),
    "little": ("lesson02_memory_bound", little),
    "barrier": ("lesson03_async_barriers", barrier),
    "swizzle": ("lesson04_bulk_copy", swizzle),
    "fragment": ("lesson05_wgmma", fragment),
    "ring": ("lesson06_smem_pipeline", ring),
    "error": ("lesson07_mixed_precision_epilogue", error),
    "dispatch": ("lesson08_kernel_selection", dispatch),
    "waves": ("lesson08_kernel_selection", waves),
    "home-ring": ("home", home_ring),
    "home-ladder": ("home", home_ladder),
}

# Their runs follow a schedule drawn from a seed, and where a kernel yields depends on the compiler: these are g++'s.
SCHEDULED = frozenset({"barrier", "ring", "home-ring"})


def target(name: str) -> Path:
    return ROOT / "lessons" / CONTROLS[name][0] / "assets" / "controls" / f"{name}.json"


def made(name: str) -> str:
    return json.dumps(CONTROLS[name][1](), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def write_all() -> list[Path]:
    for name in CONTROLS:
        target(name).parent.mkdir(parents=True, exist_ok=True)
        target(name).write_text(made(name), encoding="utf-8")
    return [target(name) for name in CONTROLS]


def stale(names: Iterable[str] = CONTROLS) -> list[str]:
    """What is wrong with the committed data of controls, in sentences. Those that are SCHEDULED can be compared under g++ alone."""
    there = {n: target(n).read_text(encoding="utf-8") if target(n).is_file() else None for n in names}
    return [
        f"{target(n).relative_to(ROOT)} {'is missing' if text is None else 'is not what its data and the emulator give now'}."
        for n, text in there.items()
        if text != made(n)
    ]
