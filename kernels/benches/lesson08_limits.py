"""Lesson 8: where accumulators stop fitting, what a block alone on its SM needs, and how rules of dispatch do on unseen shapes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels import arrays
from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.lesson08_configurations import BATCH_S, FIXED, SOURCE
from kernels.benches.ready import TIMES, compile_all, context, enqueue, graph_of, rotate, time_shuffled, torch_graph_of
from kernels.compare import relative_error
from kernels.nvrtc import compile_source
from kernels.sources import load_source
from kernels.specs import gemm
from kernels.specs.gemm_dispatch import CONFIGS, Config, choose, launch_of

CLIFF_SIZE = (8192, 8192, 4096)
ONE = (
    (64, 128),
    (64, 192),
    (64, 256),
    (128, 128),
    (128, 160),
    (128, 192),
    (128, 224),
    (192, 128),
    (192, 160),
    (256, 64),
    (256, 96),
    (256, 112),
    (256, 128),
    (128, 256),
)
TWO = ((128, 128), (128, 192), (128, 256), (256, 96), (256, 128), (256, 160), (256, 192), (256, 224), (256, 256))
ALONE_SHAPES = (
    (256, 8192, 4096),
    (512, 4096, 4096),
    (1024, 2048, 4096),
    (2048, 1024, 4096),
    (2048, 2048, 4096),
    (8192, 4096, 4096),
)
WAVES_M, WAVES_N, WAVES_K, WAVES = 1024, range(256, 8449, 256), 4096, ("64x64", "64x256", "128x256")
SEED, RANDOM_SHAPES = 8, 60
GRID_FILE = Path(__file__).parents[2] / "figures" / "data" / "lesson08_configurations.json"


@dataclass(frozen=True)
class Anyway(Config):
    """A configuration that is built and run whether it fits or not."""

    def fits(self) -> str:
        return ""


def cliff_configs() -> list[Config]:
    return [Anyway(m, n, 3, consumers, 1) for consumers, tiles in ((1, ONE), (2, TWO)) for m, n in tiles]


def cliff(session: Session) -> list[dict]:
    """The rate of ever more accumulators a thread, by one and by two consumer warpgroups, 3 stages each, one block an SM."""
    operands, (m, n, k) = Operands(CLIFF_SIZE), CLIFF_SIZE
    configs = {f"{c.name}/{c.consumers}": c for c in cliff_configs()}
    compile_all([(SOURCE, {**c.defines, "OUT": "bf16"}) for c in configs.values()])
    calls = {
        name: rotate(enqueue(SOURCE, launch_of(c, a, b, d, None, CLIFF_SIZE, "bf16")) for a, b, d in operands.ours)
        for name, c in configs.items()
    }
    times = time_shuffled(calls, repeats=9, inner=1)
    points = []
    for name, c in configs.items():
        points.append({"config": c.name, "consumers": c.consumers, "stages": c.stages, **built(c), "flop_per_byte": c.tile_m * c.tile_n / (c.tile_m + c.tile_n),
                       "tflop_per_s": 2.0 * m * n * k / times[name]["ms"] / 1e9, **times[name]})  # fmt: skip
        session.say(
            f"{name}: {c.accumulators} accumulators, {points[-1]['registers']} registers, spills {points[-1]['spill_bytes']} B, {points[-1]['tflop_per_s']:.0f} TFLOP/s"
        )
    return points


def built(c: Config) -> dict:
    """What the compiler says of a configuration."""
    out = compile_source(load_source(SOURCE), {**c.defines, "OUT": "bf16"})
    used = out.resources["gemm_dispatch"]
    return {"accumulators": c.accumulators, "at_launch": c.at_launch, "registers": used.registers, "spill_bytes": used.spill_stores + used.spill_loads,
            "shared_bytes": c.smem, "remarks": "; ".join(out.remarks)}  # fmt: skip


def graphs(size, configs: Mapping[str, Config]) -> tuple[dict[str, Callable], int, Operands]:
    """A CUDA graph of several launches over rotating operands for cuBLAS and each configuration; how many launches it holds."""
    m, n, k = size
    operands = Operands(size)
    count = max(len(operands.ours), min(40, round(BATCH_S / (2.0 * m * n * k / 500e12))))
    calls = {"cublas": torch_graph_of([operands.cublas()] * count)}
    for name, c in configs.items():
        ready = [enqueue(SOURCE, launch_of(c, a, b, d, None, size, "bf16")) for a, b, d in operands.ours]
        calls[name] = graph_of([ready[i % len(ready)] for i in range(count)])
    return calls, count, operands


def timed(session: Session, size, configs: Mapping[str, Config]) -> dict[str, dict]:
    """Times of one launch of each."""
    calls, count, operands = graphs(size, configs)
    times = session.time(calls, repeats=9, warmup=2)
    del operands
    return {name: {k: v / count if k.startswith("ms") else v for k, v in t.items()} for name, t in times.items()}


def alone(session: Session) -> list[dict]:
    """128x128 and 64x256 with more and fewer stages, blocks and consumers, at shapes of 128 tiles and at shapes of many."""
    variants = [
        Config(128, 128, s, c, b)
        for s, c, b in ((3, 1, 2), (3, 1, 1), (4, 1, 1), (5, 1, 1), (6, 1, 1), (3, 2, 1), (6, 2, 1))
    ]
    variants += [Config(64, 256, s, 1, 1) for s in (2, 3, 4, 5)]
    configs = {f"{c.name}, {c.stages} stages, {c.consumers} consumers, {c.blocks} blocks": c for c in variants}
    compile_all([(SOURCE, {**c.defines, "OUT": "bf16"}) for c in variants])
    points = []
    for size in ALONE_SHAPES:
        m, n, k = size
        times = timed(session, size, configs)
        for name, c in configs.items():
            points.append({"m": m, "n": n, "k": k, "config": c.name, "stages": c.stages, "consumers": c.consumers, "blocks": c.blocks, "tiles": c.tiles(m, n),
                           "shared_bytes": c.smem, "tflop_per_s": 2.0 * m * n * k / times[name]["ms"] / 1e9, "of_cublas": times["cublas"]["ms"] / times[name]["ms"], **times[name]})  # fmt: skip
        session.say(
            f"{m}x{n}: "
            + "; ".join(
                f"{c.name} s{c.stages} c{c.consumers} b{c.blocks} {1e3 * times[name]['ms']:.1f} us"
                for name, c in configs.items()
            )
        )
    return points


def results(session: Session) -> list[dict]:
    """Are the results of configurations that spill right? Against float64, at a size that no tile divides."""
    size = m, n, k = 509, 769, 2053
    ctx, (a, b) = context(), gemm.example(np.random.default_rng(SEED), *size)[0]
    right, points = gemm.reference(a, b), []
    for c in cliff_configs():
        given = [gemm.padded(ctx, arrays.to_cupy(x)) for x in (a, b)]
        d = ctx.empty((m, gemm.pitch(n)), "fp32")
        d.fill(np.nan)
        enqueue(SOURCE, launch_of(c, *given, d, None, size, "fp32"))()
        spilled = compile_source(load_source(SOURCE), launch_of(c, *given, d, None, size, "fp32").defines).resources[
            "gemm_dispatch"
        ]
        error = relative_error(d[:, :n].get(), right)
        points.append({"config": c.name, "consumers": c.consumers, "accumulators": c.accumulators, "m": m, "n": n, "k": k,
                       "spill_bytes": spilled.spill_stores + spilled.spill_loads, "error": float(error), "bound": float(gemm.tolerance(a, b, out="fp32"))})  # fmt: skip
    session.say(
        f"{sum(p['spill_bytes'] > 0 for p in points)} spill; worst error of all {max(p['error'] for p in points):.1e}"
    )
    return points


def waves(session: Session) -> list[dict]:
    """Three tiles and cuBLAS as D grows wider: each rate steps where the tiles need one round of the SMs more."""
    configs = {name: CONFIGS[name] for name in WAVES}
    compile_all([(SOURCE, {**c.defines, "OUT": "bf16"}) for c in configs.values()])
    points = []
    for n in WAVES_N:
        times = timed(session, (WAVES_M, n, WAVES_K), configs)
        for name, t in times.items():
            tiles = configs[name].tiles(WAVES_M, n) if name in configs else 0
            points.append(
                {
                    "m": WAVES_M,
                    "n": n,
                    "k": WAVES_K,
                    "config": name,
                    "tiles": tiles,
                    "tflop_per_s": 2.0 * WAVES_M * n * WAVES_K / t["ms"] / 1e9,
                    **t,
                }
            )
    session.say(f"{len(points)} points")
    return points


def shapes() -> list[tuple[int, int, int]]:
    """Random shapes that no configuration was tuned on: M, N log-uniform, multiples of 8; K a multiple of 64."""
    rng = np.random.default_rng(SEED)
    draw = lambda low, high, step: int(round(math.exp(rng.uniform(math.log(low), math.log(high))) / step)) * step
    return [(draw(64, 8192, 8), draw(512, 8192, 8), draw(512, 8192, 64)) for _ in range(RANDOM_SHAPES)]


def unseen(session: Session) -> list[dict]:
    """Every configuration and cuBLAS at the random shapes, and what each rule of dispatch would have lost."""
    sms = session.device.sms
    compile_all([(SOURCE, {**c.defines, "OUT": "bf16"}) for c in CONFIGS.values()])
    points, here = [], {}
    for size in shapes():
        times = timed(session, size, CONFIGS)
        here[size] = {name: t["ms"] for name, t in times.items()}
        best = min(CONFIGS, key=here[size].get)
        picked = {rule: pick(*size[:2]) for rule, pick in rules(sms).items()}
        points.append({"kind": "shape", **dict(zip("mnk", size)), "best": best, "best_ms": here[size][best], "spread": times[best]["ms_p90"] / times[best]["ms_p10"],
                       "of_cublas": here[size]["cublas"] / here[size][best], **{f"ms_{c}": ms for c, ms in here[size].items()}, **{f"picks_{r}": c for r, c in picked.items()},
                       **{f"loss_{r}": here[size][c] / here[size][best] for r, c in picked.items()}})  # fmt: skip
        session.say(
            f"{size}: best {best}, " + ", ".join(f"{r} {c} {points[-1][f'loss_{r}']:.2f}" for r, c in picked.items())
        )
    grid = {(p["m"], p["n"], p["k"]): {} for p in grid_points()}
    for p in grid_points():
        grid[p["m"], p["n"], p["k"]][p["config"]] = p["ms"]
    return points + summaries("random", here, sms) + summaries("grid", grid, sms)


def grid_points() -> list[dict]:
    return json.loads(GRID_FILE.read_text(encoding="utf-8"))["points"]


def rules(sms: int) -> dict[str, Callable[[int, int], str]]:
    """Ways to choose a configuration from M and N. rates and table use the measured grid and nothing else."""
    points = grid_points()
    rates = {p["config"]: p["tflop_per_s"] for p in points if (p["m"], p["n"]) == (8192, 8192)}
    best = {(p["m"], p["n"]): p["config"] for p in points if p["best"]}
    far = lambda at, m, n: abs(math.log(at[0] / m)) + abs(math.log(at[1] / n))
    return {
        "fixed": lambda m, n: FIXED,
        "model": lambda m, n: choose(m, n, sms).name,
        "rates": lambda m, n: choose(m, n, sms, rates).name,
        "ring": lambda m, n: choose(m, n, sms, stages=4).name,
        "ring_rates": lambda m, n: choose(m, n, sms, rates, stages=4).name,
        "table": lambda m, n: best[min(best, key=lambda at: far(at, m, n))],
    }


def summaries(which: str, ms: Mapping[tuple, Mapping[str, float]], sms: int) -> list[dict]:
    """Of each rule: the geometric mean and the largest of time over the best configuration's, and how often it is within 5 %."""
    out = []
    for rule, pick in rules(sms).items():
        loss = {size: t[pick(*size[:2])] / min(t[c] for c in CONFIGS) for size, t in ms.items()}
        worst = max(loss, key=loss.get)
        out.append({"kind": "rule", "shapes": which, "rule": rule, "count": len(loss), "mean_loss": math.exp(np.mean(np.log(list(loss.values())))),
                    "worst_loss": loss[worst], "worst_m": worst[0], "worst_n": worst[1], "within_5_percent": sum(x <= 1.05 for x in loss.values())})  # fmt: skip
    best = [min(t[c] for c in CONFIGS) for t in ms.values()]
    of = np.array([t["cublas"] / b for t, b in zip(ms.values(), best)])
    out.append(
        {
            "kind": "cublas",
            "shapes": which,
            "count": len(of),
            "mean_of_cublas": float(np.exp(np.log(of).mean())),
            "least_of_cublas": float(of.min()),
            "most_of_cublas": float(of.max()),
        }
    )
    return out


BENCHES = (
    Bench(
        "lesson08_cliff",
        f"gemm_dispatch at {CLIFF_SIZE} with 32 to 256 accumulators a thread, 3 stages, one block an SM: registers, spills and rate",
        ("gemm_dispatch",),
        cliff,
        {
            "config": "tile",
            "consumers": "consumer warpgroups",
            "stages": "of the ring",
            "accumulators": "fp32 registers a consumer thread",
            "at_launch": "registers a thread may have at launch",
            "registers": "registers a thread at launch, as compiled (with two consumers setmaxnreg moves them afterwards)",
            "spill_bytes": "bytes a thread spills, stores and loads",
            "shared_bytes": "shared memory a block",
            "remarks": "the compiler's performance remarks",
            "flop_per_byte": "of the tile: operations for each byte of A and B loaded (bf16)",
            "tflop_per_s": "2 M N K / median time",
            **TIMES,
        },
    ),
    Bench(
        "lesson08_results",
        "The results of configurations that fit and of such that spill, against float64",
        ("gemm_dispatch",),
        results,
        {
            **{
                "config": "tile",
                "consumers": "consumer warpgroups",
                "accumulators": "fp32 registers a consumer thread",
            },
            **{
                "m": "rows of D",
                "n": "columns of D",
                "k": "K",
                "spill_bytes": "bytes a thread spills, stores and loads",
            },
            "error": "||D - float64|| / ||float64||, output fp32",
            "bound": "what a right kernel stays below",
        },
    ),
    Bench(
        "lesson08_alone",
        "128x128 and 64x256 with other numbers of stages, consumers and blocks an SM, where 128 tiles meet 132 SMs and where tiles are plenty",
        ("gemm_dispatch",),
        alone,
        {
            **{
                "m": "rows of D",
                "n": "columns of D",
                "k": "K",
                "config": "tile",
                "stages": "of the ring",
                "consumers": "consumer warpgroups",
            },
            "blocks": "blocks that may share an SM",
            "tiles": "of D",
            "shared_bytes": "shared memory a block",
            "tflop_per_s": "2 M N K / median time",
            "of_cublas": "cuBLAS's time over this one's",
            **TIMES,
        },
    ),
    Bench(
        "lesson08_waves",
        f"Three tile configurations and cuBLAS at M = {WAVES_M}, K = {WAVES_K} and growing N",
        ("gemm_dispatch",),
        waves,
        {
            **{
                "m": "rows of D",
                "n": "columns of D",
                "k": "K",
                "config": "tile, or cublas",
                "tiles": "of D; 0 for cuBLAS",
            },
            "tflop_per_s": "2 M N K / median time",
            **TIMES,
        },
    ),
    Bench(
        "lesson08_unseen",
        f"Rules of dispatch and cuBLAS at {RANDOM_SHAPES} random shapes (measured here) and on the grid of lesson08_configurations.json (its readings)",
        ("gemm_dispatch",),
        unseen,
        {
            "kind": "shape: one random shape; rule: a rule's summary over a set of shapes; cublas: the best configuration against cuBLAS over a set",
            **{
                "m": "rows of D",
                "n": "columns of D",
                "k": "K",
                "best": "the fastest configuration",
                "best_ms": "its median time, milliseconds",
            },
            "spread": "90th over 10th percentile of the best's readings",
            "of_cublas": "cuBLAS's time over the best's",
            "ms_*": "median time of cuBLAS and of each configuration, milliseconds",
            "picks_*": "what the rule picks: fixed (always 128x256), model (choose without measurements), rates (choose with the rates of 8192 x 8192 x 4096), table (the best of the nearest grid shape), ring (model, and an SM with fewer than 4 stages in flight is slower in proportion), ring_rates (ring with the rates)",
            "loss_*": "the time of what the rule picks over the best's",
            "shapes": "random or grid",
            "rule": "see picks_*",
            "count": "shapes in the set",
            "mean_loss": "geometric mean of the loss",
            "worst_loss": "largest loss",
            "worst_m": "rows of D there",
            "worst_n": "columns of D there",
            "within_5_percent": "shapes at which the rule's pick is within 5 % of the best",
            "mean_of_cublas": "geometric mean of cuBLAS's time over the best configuration's",
            "least_of_cublas": "smallest",
            "most_of_cublas": "largest",
        },
    ),
)
