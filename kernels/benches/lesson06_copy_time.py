"""Lesson 6: how long one copy takes while others are in flight, by stamps of the SM's clock in ring_pipeline itself.

The kernel's text gets three stamps a k-block in one CTA of 37: when its copies are issued, by the SM's clock and by the global timer, and
when FULL completes, as seen by a warp that only watches. What the stamps cost is measured with them.
"""

from __future__ import annotations

import numpy as np

from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.lesson06_release import call_of, without_overlap
from kernels.benches.ready import TIMES, compile_all, enqueue, rotate, time_shuffled
from kernels.errors import KernelError
from kernels.sources import Source, load_source
from kernels.specs.ring_pipeline import MOST_STAGES, launch_of

SIZE, BURST, ROUNDS = (4096, 4096, 4096), 20, 12
BLOCKS, KINDS, SAMPLED, EVERY, FIRST = 64, 3, 24, 37, 5  # k-blocks; kinds of stamp; CTAs that stamp: 5, 42, 79, ...
STEADY = slice(16, 56)  # k-blocks of the steady state
STAMP = f"""
HOPPER_FN void stamp(int* to, int kind, int k, int now) {{
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  if (block % {EVERY} == {FIRST} && block / {EVERY} < {SAMPLED}) to[((block / {EVERY}) * {KINDS} + kind) * {BLOCKS} + k] = now;
}}
HOPPER_FN int nanoseconds() {{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return (int)t;
}}
template <class R> HOPPER_FN void watch(R& ring, int k_blocks, int* to) {{
  for (int k = 0; k < k_blocks; ++k) {{
    mbarrier_wait(&ring.full[k % STAGES], (k / STAGES) & 1);
    stamp(to, 1, k, (int)clock64());
  }}
}}
"""
EDITS = (  # (what the kernel says, what the stamped one says)
    ("struct Place {", STAMP + "\nstruct Place {"),
    ("int m, int n, int k_blocks) {\n", "int m, int n, int k_blocks, int* to) {\n"),
    ("    expect_stage(ring, p.index);", "    stamp(to, 2, k, nanoseconds());\n    stamp(to, 0, k, (int)clock64());\n    expect_stage(ring, p.index);"),
    ("if (threadIdx.x == 0) produce(ring, map_a, map_b, m, n, k_blocks);",
     "if (threadIdx.x == 0) produce(ring, map_a, map_b, m, n, k_blocks, places);\n    if (threadIdx.x == 32) watch(ring, k_blocks, places);"),
    ("blockIdx.x + blockIdx.y == 0 ? places : nullptr", "nullptr"),
)  # fmt: skip


def stamped(source: Source) -> Source:
    text = source.text
    for old, new in EDITS:
        if text.count(old) != 1:
            raise KernelError(f"ring_pipeline.cu no longer says {old.strip()!r} once, as this bench expects.")
        text = text.replace(old, new)
    return load_source(source.name, text)


def copy_time(session: Session) -> list[dict]:
    """1 to 7 stages with one group in flight, 2 to 7 with none; the stamps are read after a warm launch."""
    import cupy

    m, n, k = SIZE
    operands, plain, none = Operands(SIZE), load_source("ring_pipeline.cu"), without_overlap()
    compile_all([("ring_pipeline.cu", {"STAGES": s, "OUT": "bf16"}) for s in range(1, MOST_STAGES + 1)])
    variants = [(s, 1) for s in range(1, MOST_STAGES + 1)] + [(s, 0) for s in range(2, MOST_STAGES + 1)]
    calls, stamps = {}, {}
    for s, g in variants:
        source = plain if g else none
        stamps[s, g] = cupy.zeros((SAMPLED, KINDS, BLOCKS), cupy.int32)
        bare = [launch_of(a, b, d, None, SIZE, s, "bf16") for a, b, d in operands.ours]
        with_stamps = [launch_of(a, b, d, stamps[s, g], SIZE, s, "bf16") for a, b, d in operands.ours]
        calls[f"{s} {g} bare"] = rotate(enqueue(plain.name, x) if g else call_of(source, x) for x in bare)
        calls[f"{s} {g} stamped"] = rotate(call_of(stamped(source), x) for x in with_stamps)
    times = time_shuffled(calls, repeats=ROUNDS, inner=BURST)
    points = []
    for s, g in variants:
        at = stamps[s, g].get().astype(np.int64)
        issued, landed, ns = at[:, 0], at[:, 1], at[:, 2]
        wrap = lambda x: (x + 2**31) % 2**32 - 2**31  # noqa: E731 - the clocks' low words
        cycles = wrap(issued[:, STEADY.stop] - issued[:, STEADY.start])
        elapsed = wrap(ns[:, STEADY.stop] - ns[:, STEADY.start])
        rate = float(np.median(cycles / np.maximum(elapsed, 1)))  # cycles a nanosecond
        steady = np.arange(STEADY.start, STEADY.stop)
        points.append(
            {
                "stages": s,
                "in_flight": g,
                "copy_ns": float(np.mean(wrap(landed - issued)[:, steady])) / rate,
                "copy_ns_median": float(np.median(wrap(landed - issued)[:, steady])) / rate,
                "copy_ns_p90": float(np.percentile(wrap(landed - issued)[:, steady], 90)) / rate,
                "reissue_ns": float(np.mean(wrap(issued[:, steady + s] - landed[:, steady]))) / rate,
                "period_ns": float(np.mean(cycles)) / rate / (STEADY.stop - STEADY.start),
                "clock_ghz": rate,
                "stamped_ms": times[f"{s} {g} stamped"]["ms"],
                **times[f"{s} {g} bare"],
            }
        )
        p = points[-1]
        session.say(
            f"{s} stages, {g} in flight: copy {p['copy_ns']:.0f} ns (p90 {p['copy_ns_p90']:.0f}), landed to reissue {p['reissue_ns']:.0f}, "
            f"period {p['period_ns']:.0f}, S x P {s * p['period_ns']:.0f}; {p['ms']:.4f} ms, stamped {p['stamped_ms']:.4f}"
        )
    return points


BENCHES = (
    Bench(
        "lesson06_copy_time",
        "ring_pipeline, 4096 cubed: time from a copy's issue to its landing and from there to the next issue into the same stage, in the "
        f"steady state, by the SM's clock in {SAMPLED} CTAs",
        ("ring_pipeline",),
        copy_time,
        {
            "stages": "of the ring",
            "in_flight": "groups of wgmmas still running when the next k-block begins",
            "copy_ns": "mean time from issue to the completion of FULL, nanoseconds",
            "copy_ns_median": "its median",
            "copy_ns_p90": "its 90th percentile",
            "reissue_ns": "mean time from the completion of FULL to the next issue into that stage",
            "period_ns": "mean time of a k-block",
            "clock_ghz": "the SM's clock against the global timer",
            "stamped_ms": "median time of a launch with the stamps; ms: without",
            **TIMES,
        },
    ),
)
