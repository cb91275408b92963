"""Lesson 6: when a stage is released. One group of wgmmas in flight against none, and the early release on the device.

The early release (EMPTY before the wgmmas are done) is a race: its launches are counted by whether every bit of D is what the right
kernel gives, which is the same in each launch. It is a bench of its own and comes last, since nothing promises that it ends.
"""

from __future__ import annotations

from kernels import gpu
from kernels.bench import Bench, Session
from kernels.benches.gemm_ladder import Operands
from kernels.benches.ready import TIMES, compile_all, enqueue, rotate, time_shuffled
from kernels.errors import KernelError
from kernels.sources import Source, load_source
from kernels.spec import Launch
from kernels.specs.gemm import TILE_K
from kernels.specs.ring_pipeline import MOST_STAGES, launch_of

SIZE, BURST, ROUNDS = (4096, 4096, 4096), 20, 12
LAUNCHES = 200
IN_FLIGHT = "IN_FLIGHT = STAGES > 1 ? 1 : 0;"


def without_overlap() -> Source:
    """ring_pipeline.cu with no group left in flight: each is waited for before its stage is released and the next group issued."""
    source = load_source("ring_pipeline.cu")
    if source.text.count(IN_FLIGHT) != 1:
        raise KernelError("ring_pipeline.cu no longer says IN_FLIGHT as this bench expects.")
    return load_source(source.name, source.text.replace(IN_FLIGHT, "IN_FLIGHT = 0;"))


def call_of(source: Source, launch: Launch):
    """A function that enqueues the launch with this text of the kernel."""
    function = gpu.Module(source, launch.defines).function(launch.entry, launch.smem)
    grid, block, packed = gpu.three(launch.grid), gpu.three(launch.block), tuple(map(gpu.pack, launch.args))
    return lambda: function(grid, block, packed, shared_mem=launch.smem)


def in_flight(session: Session) -> list[dict]:
    """2 to 7 stages, one group in flight and none, bursts back to back, in another order each round."""
    sizes, edited, operands = range(2, MOST_STAGES + 1), without_overlap(), Operands(SIZE)
    compile_all([("ring_pipeline.cu", {"STAGES": s, "OUT": "bf16"}) for s in sizes])
    calls = {}
    for s in sizes:
        launches = [launch_of(a, b, d, None, SIZE, s, "bf16") for a, b, d in operands.ours]
        calls[s, 1] = rotate(enqueue("ring_pipeline.cu", x) for x in launches)
        calls[s, 0] = rotate(call_of(edited, x) for x in launches)
    times = time_shuffled({f"{s} {g}": call for (s, g), call in calls.items()}, repeats=ROUNDS, inner=BURST)
    m, n, k = SIZE
    points = [
        {
            "stages": s,
            "in_flight": g,
            "tflop_per_s": 2.0 * m * n * k / times[f"{s} {g}"]["ms"] / 1e9,
            **times[f"{s} {g}"],
        }
        for s, g in calls
    ]
    session.say(
        ", ".join(f"{p['stages']}/{p['in_flight']}: {p['tflop_per_s']:.0f}" for p in points)
        + " TFLOP/s (stages/groups in flight)"
    )
    return points


def early_release(session: Session) -> list[dict]:
    """LAUNCHES launches of the defect for 2 to 7 stages, each compared bit for bit with the right kernel's D.

    K of as many k-blocks as there are stages (nothing is overwritten), of one more, and of 64.
    """
    import cupy

    operands, points = Operands(SIZE), []
    a, b, d = operands.ours[0]
    right, poison = cupy.empty_like(d), cupy.full_like(d, 0x7FC0)
    for s in range(2, MOST_STAGES + 1):
        for blocks in (s, s + 1, SIZE[2] // TILE_K):
            kinds = {}
            for name, bug in (("right", None), ("early release", "empty_before_wgmma_wait")):
                launch = launch_of(a, b, d, None, (SIZE[0], SIZE[1], blocks * TILE_K), s, "bf16")
                launch.defines.update({"BUG": bug} if bug else {})
                kinds[name] = enqueue("ring_pipeline.cu", launch)
            kinds["right"]()
            right[...] = d
            for name, call in kinds.items():
                wrong, most = 0, 0
                for _ in range(LAUNCHES):
                    d[...] = poison
                    call()
                    different = int(cupy.count_nonzero(d != right))
                    wrong, most = wrong + (different > 0), max(most, different)
                points.append({"stages": s, "k_blocks": blocks, "variant": name, "launches": LAUNCHES, "wrong_launches": wrong,
                               "most_wrong_elements": most, "elements": int(d.size)})  # fmt: skip
            session.say(f"{s} stages, {blocks} k-blocks: {points[-1]['wrong_launches']} of {LAUNCHES} launches with the early release are wrong, "
                        f"at most {100 * points[-1]['most_wrong_elements'] / d.size:.1f} % of D; without it {points[-2]['wrong_launches']}")  # fmt: skip
    return points


BENCHES = (
    Bench(
        "lesson06_in_flight",
        "ring_pipeline, 4096 cubed, with one group of wgmmas in flight while the next is issued, and with none",
        ("ring_pipeline",),
        in_flight,
        {
            "stages": "of the ring",
            "in_flight": "groups still running when the next k-block begins",
            "tflop_per_s": "2 M N K / median time",
            **TIMES,
        },
    ),
    Bench(
        "lesson06_early_release",
        "ring_pipeline, 4096 x 4096 x K, releasing EMPTY before its wgmmas are done: launches whose D differs from the right kernel's in any bit",
        ("ring_pipeline",),
        early_release,
        {
            "stages": "of the ring",
            "k_blocks": "K over 64",
            "variant": "what ran",
            "launches": "number of launches",
            "wrong_launches": "launches with at least one different element",
            "most_wrong_elements": "in the worst launch",
            "elements": "of D",
        },
    ),
)
