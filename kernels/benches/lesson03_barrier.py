"""Lesson 3: the mbarrier of the hardware against the model of a few lines, event by event; what it costs a block to meet."""

from __future__ import annotations

import numpy as np

from kernels.arrays import to_numpy
from kernels.bench import Bench, Session, summary
from kernels.benches.ready import compile_all, context, enqueue
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.spec import cases, get_spec
from kernels.specs import barrier_cost
from kernels.specs.barriers import step, walk

SCRIPTS = 300
ROUNDS, READINGS = 4096, 30
THREADS = (32, 64, 128, 256, 512, 1024)
STEPS = 128  # of the late warp, and of the work that needs nobody
LOADS = ((0, 0), (STEPS, 0), (0, STEPS), (STEPS, STEPS))  # (slow, work)
LOADED_THREADS = 256


def hardware(session: Session) -> list[dict]:
    """The phase bit after every event of every script, on the device and by the model. A disagreement fails the bench."""
    kernel = load("barrier_script", "gpu")
    points = []
    for case in cases(get_spec("barrier_script"), np.random.default_rng(2026), SCRIPTS):
        (events,), count = case.arrays, case.params["count"]
        seen, modelled = kernel(events, count=count).tolist(), walk(step, events, count)
        if seen != modelled:
            raise KernelError(
                f"{case.label}: the device's phases {seen} are not the model's {modelled} for {events.tolist()}."
            )
        points.append(
            {
                "script": case.label,
                "count": count,
                "events": len(events),
                "phases": int(np.abs(np.diff([0, *seen])).sum()),
                "agree": 1,
                **census(events, count),
            }
        )
    session.say(
        f"{len(points)} scripts, {sum(p['events'] for p in points)} events, {sum(p['phases'] for p in points)} phases: all as the model says"
    )
    return points


def census(events: np.ndarray, count: int) -> dict:
    """How often the script met what the lesson tells of: states with bytes ahead of their expectation, and what completed the phases."""
    found = dict.fromkeys(("early", "arrived_but_early", "by_arrival", "by_landing", "by_expectation"), 0)
    state = (count, 0, 0, count)
    for arrivals, nbytes in events.tolist():
        before, state = state, step(state, (arrivals, nbytes))
        if state[2] != before[2]:
            found["by_arrival" if arrivals else "by_landing" if nbytes < 0 else "by_expectation"] += 1
        elif state[1] < 0:
            found["early"] += 1
            found["arrived_but_early"] += state[0] == 0
    return found


def cost(session: Session) -> list[dict]:
    """Cycles a round, each way to meet: over the block's size with nothing else to do; and with a late warp and work that needs nobody.

    Each variant's result is held to the arithmetic first: a meeting that lets somebody through too early is no measurement.
    """
    import cupy

    compile_all([("barrier_cost.cu", {"MEETING": m}) for m in range(len(barrier_cost.MEETINGS))])
    variants = [(meeting, threads, 0, 0) for meeting in barrier_cost.MEETINGS for threads in THREADS]
    variants += [(meeting, LOADED_THREADS, slow, work) for meeting in barrier_cost.MEETINGS for slow, work in LOADS[1:]]
    rng, ctx, calls = np.random.default_rng(3), context(), {}
    for variant in variants:
        meeting, threads, slow, work = variant
        (x,), params = barrier_cost.example(rng, threads, meeting, ROUNDS, slow, work)
        y, cycles = ctx.empty(x.shape, "uint32"), cupy.zeros(1, cupy.uint32)
        call = enqueue("barrier_cost.cu", barrier_cost.launch(cupy.asarray(x), y, cycles, **params))
        call()
        if not (to_numpy(y) == barrier_cost.reference(x, **params)).all():
            raise KernelError(f"{variant}: the block's result is not the arithmetic's.")
        calls[variant] = (call, cycles, [])
    for _ in range(READINGS):
        for call, cycles, readings in calls.values():
            call()
            readings.append(int(to_numpy(cycles)[0]) / ROUNDS)
    points = []
    for (meeting, threads, slow, work), (_, _, readings) in calls.items():
        figures = {k.replace("ms", "cycles"): v for k, v in summary(readings).items()}
        points.append({"meeting": meeting, "threads": threads, "slow": slow, "work": work, **figures})
    session.say(
        "; ".join(f"{p['meeting']} {p['threads']} ({p['slow']}, {p['work']}): {p['cycles']:.1f}" for p in points)
    )
    return points


BENCHES = (
    Bench(
        "lesson03_hardware_barrier",
        f"{SCRIPTS} scripts of arrivals, expectations and landings on an mbarrier of the device: its phase bit against the model after each event",
        ("barrier_script",),
        hardware,
        {
            "script": "what the script is after",
            "count": "arrivals that complete a phase",
            "events": "events played, each compared",
            "phases": "phases that completed",
            "agree": "1: every phase bit was the model's",
            "early": "events after which more bytes had landed than were expected",
            "arrived_but_early": "of those, the ones with no arrival missing: the phase stayed open",
            "by_arrival": "phases that an arrival completed",
            "by_landing": "phases that a landing completed",
            "by_expectation": "phases that an expectation completed",
        },
    ),
    Bench(
        "lesson03_barrier_cost",
        f"What it costs one block to meet once a round, {ROUNDS} rounds: __syncthreads and two uses of an mbarrier",
        ("barrier_cost",),
        cost,
        {
            "meeting": "__syncthreads; an mbarrier at which every thread arrives; one at which each warp arrives once",
            "threads": "of the block",
            "slow": "dependent integer steps that one warp, the next in turn, takes before it arrives",
            "work": "dependent integer steps of every thread that need nobody: after __syncthreads, between arriving and waiting at an mbarrier",
            "cycles": "SM clock cycles a round, median of the launches",
            "cycles_min": "smallest reading",
            "cycles_p10": "10th percentile",
            "cycles_p90": "90th percentile",
            "readings": "launches, interleaved with the other variants",
        },
    ),
)
