"""Lesson 3's kernels: a producer and two consumers with mbarriers, and a barrier that plays a script.

    y = kernels.load("mbarrier_handshake")(x)                        # y = 2 x, box by box
    parity = kernels.load("barrier_script")(events, count=2)         # the barrier's phase bit after each event

A barrier's state is (pending, tx, phase, count): arrivals still missing, bytes expected less bytes landed, the phase bit, arrivals a
phase. An event is (arrivals, bytes): bytes above 0 are expected, below 0 have landed. `step` is the whole barrier.
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_array
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div
from kernels.tensormap import TensorMap

BOX_ROWS, BOX_COLUMNS, BUFFERS = 8, 32, 2
HALF = (BOX_ROWS // 2, BOX_COLUMNS)
SHARED_BYTES = BUFFERS * BOX_ROWS * BOX_COLUMNS * 4 + 2 * BUFFERS * 8
SOURCE = "mbarrier_handshake.cu"
MOST_BYTES = 2**20 - 1  # of the transaction count, either side of 0 (PTX ISA, mbarrier)
ARRIVE, EXPECT, ARRIVE_EXPECT, LAND = range(4)  # the script's events, as in the source


def step(state, event):
    """The mbarrier: a phase completes when no arrival is pending and the transaction count is 0; then the next one begins."""
    pending, tx, phase, count = state
    arrivals, nbytes = event
    pending, tx = pending - arrivals, tx + nbytes
    return (count, tx, phase ^ 1, count) if pending == 0 and tx == 0 else (pending, tx, phase, count)


# ---------------------------------------------------------------------------------------------- mbarrier_handshake
def check_handshake(x) -> None:
    require_array("x", x, dtype="fp32", ndim=2)


def pad_columns(ctx, x):
    """x in rows that start at multiples of 16 bytes (a rule of TMA): itself, or a copy with zeros after each row."""
    step16 = 16 // x.itemsize
    if x.shape[1] % step16 == 0:
        return x
    wide = ctx.zeros((x.shape[0], ceil_div(x.shape[1], step16) * step16), "fp32")
    wide[:, : x.shape[1]] = x
    return wide


def plan_handshake(ctx, x) -> Plan:
    m, n = x.shape
    wide, y = pad_columns(ctx, x), ctx.empty((m, n), "fp32")
    args = [TensorMap(wide[:, :n], HALF, swizzle=0), y, np.int32(m), np.int32(n), np.int32(n)]
    return Plan([Launch("mbarrier_handshake", (ceil_div(n, BOX_COLUMNS),), (96,), args, SHARED_BYTES)], y)


def example_handshake(rng, m: int = 61, n: int = 37):
    """Eight boxes for each of two strips, the last ones over both edges."""
    return (rng.standard_normal((m, n)).astype(np.float32) * np.linspace(1, 3, m, dtype=np.float32)[:, None],), {}


def cases_handshake(rng, count: int):
    """Prime and one-element sizes, whole boxes, more than two laps of the buffers."""
    sizes = [(61, 37), (1, 1), (3, 5), (64, 64), (7, 31), (41, 33), (100, 3)]
    for i in range(count):
        m, n = sizes[i] if i < len(sizes) else (int(rng.integers(1, 90)), int(rng.integers(1, 80)))
        yield Case(f"{m} x {n}", *example_handshake(rng, m, n))


# ---------------------------------------------------------------------------------------------- barrier_script
def check_script(events, count=1) -> None:
    require_array("events", events, dtype="int32", ndim=2)
    if events.shape[1] != 2:
        raise ArgumentError(f"events are rows of (arrivals 0 or 1, bytes); the shape is {tuple(events.shape)}.")
    if not isinstance(count, int) or not 1 <= count <= 1000:
        raise ArgumentError(f"count is the arrivals that complete a phase, 1 to 1000; it is {count!r}.")
    if isinstance(events, np.ndarray):
        _check_legal(events, count)


def _check_legal(events, count) -> None:
    """What the hardware leaves undefined is refused: more arrivals than a phase has, a count of bytes beyond its range."""
    state = (count, 0, 0, count)
    for i, (arrivals, nbytes) in enumerate(events.tolist()):
        if arrivals not in (0, 1) or (arrivals and nbytes < 0) or not (arrivals or nbytes):
            raise ArgumentError(
                f"event {i} is ({arrivals}, {nbytes}): an arrival (1, bytes expected >= 0), or bytes alone (0, not 0)."
            )
        if arrivals > state[0]:
            raise ArgumentError(
                f"event {i} arrives, but no arrival of this phase is pending: it waits for {state[1]} bytes."
            )
        state = step(state, (arrivals, nbytes))
        if abs(state[1]) > MOST_BYTES:
            raise ArgumentError(
                f"event {i} takes the transaction count to {state[1]}; it is {MOST_BYTES} at most, either side of 0."
            )


def plan_script(ctx, events, count=1) -> Plan:
    arrivals, nbytes = events[:, 0], events[:, 1]
    ops = ctx.empty(events.shape, "int32")
    ops[:, 0] = ctx.xp.where(
        nbytes < 0, LAND, ctx.xp.where(arrivals == 0, EXPECT, ctx.xp.where(nbytes > 0, ARRIVE_EXPECT, ARRIVE))
    )
    ops[:, 1] = abs(nbytes)
    parity = ctx.empty((events.shape[0],), "int32")
    return Plan(
        [Launch("barrier_script", (1,), (1,), [ops, parity, np.int32(events.shape[0]), np.int32(count)])], parity
    )


def walk(function, events, count) -> list:
    """The phase bit after each event, by a function of a state and an event."""
    state, phases = (count, 0, 0, count), []
    for arrivals, nbytes in np.asarray(events).tolist():
        state = function(state, (arrivals, nbytes))
        phases.append(state[2])
    return phases


def random_script(rng, count: int, length: int) -> np.ndarray:
    """Legal events in a random order: bytes land before and after they are expected, phases complete by an arrival or by a landing."""
    state, events = (count, 0, 0, count), []
    for _ in range(length):
        kinds = ["expect", "land"] + (["arrive", "arrive_expect"] * 2 if state[0] else [])
        kind = str(rng.choice(kinds))
        if state[0] == 0 or (state[1] and rng.random() < 0.35):  # bring the count to 0
            event = (0, -state[1])
        else:
            nbytes = int(rng.choice([16, 1024, 8192]))
            event = {"expect": (0, nbytes), "land": (0, -nbytes), "arrive": (1, 0), "arrive_expect": (1, nbytes)}[kind]
        events.append(event)
        state = step(state, event)
    return np.array(events, np.int32)


def example_script(rng, length: int = 40, count: int = 2):
    return (random_script(rng, count, length),), dict(count=count)


def cases_script(rng, count: int):
    """First the ones that catch a mistake by name, then random ones."""
    named = (
        ("one arrival, no bytes", [(1, 0), (1, 0), (1, 0)], 1),
        ("expect and arrive, then the bytes", [(1, 4096), (0, -1024), (0, -3072), (1, 0)], 1),
        ("bytes land before they are expected", [(0, -4096), (1, 4096), (1, 0)], 1),
        ("two arrivals, bytes in between", [(1, 64), (0, -64), (1, 0), (1, 0), (1, 0)], 2),
        ("bytes 0 while an arrival is missing", [(0, 64), (0, -64), (1, 0), (1, 0), (1, 16), (0, -16)], 3),
        ("expected in parts, landed at once", [(0, 32), (1, 64), (0, -96), (1, 0)], 1),
    )
    for i in range(count):
        if i < len(named):
            label, events, arrivals = named[i]
            yield Case(label, (np.array(events, np.int32),), dict(count=arrivals))
        else:
            arrivals = int(rng.integers(1, 5))
            yield Case(
                f"random script {i}, {arrivals} arrivals a phase",
                (random_script(rng, arrivals, 48),),
                dict(count=arrivals),
            )


BUGS = {
    "wrong_expect_tx": "FULL expects only one of the two halves: the phase completes while the other is still on its way, the consumers read a "
    "box that has not landed, and the late bytes count against the next phase.",
    "too_much_expect_tx": "FULL expects three halves where two are copied: the transaction count never comes back to 0, the phase never completes, "
    "and everybody waits for ever.",
    "no_full_wait": "The consumers do not wait for FULL: they read what is in the buffer, landed or not.",
    "no_empty_wait": "The producer does not wait for EMPTY: from the second lap on it copies over a box that the consumers may still read, and "
    "arrives again in a phase that is not over.",
    "no_mbarrier_init_fence": "No fence_mbarrier_init after mbarrier_init: the copy engine may use a barrier before it can see that it was initialised.",
}

SPECS = (
    KernelSpec(
        name="mbarrier_handshake",
        source=SOURCE,
        computes="y = 2 x, copied in boxes by one producer and doubled by two consumer warps, two buffers between them",
        plan=plan_handshake,
        check=check_handshake,
        reference=lambda x: 2.0 * x.astype(np.float64),
        example=example_handshake,
        cases=cases_handshake,
        work=lambda x: Work(flops=x.size, bytes=8.0 * x.size),
        tolerance=0.0,
        max_registers=48,
        entries=("mbarrier_handshake", "barrier_script"),
        bugs={name: Bug({"BUG": name}, why) for name, why in BUGS.items()},
    ),
    KernelSpec(
        name="barrier_script",
        source=SOURCE,
        computes="the phase bit of one mbarrier after each event of a script",
        plan=plan_script,
        check=check_script,
        reference=lambda events, count=1: np.array(walk(step, events, count), np.float64),
        example=example_script,
        cases=cases_script,
        exercise=lambda function, result, /, events, count=1: (walk(function, events, count), result),
        tolerance=0.0,
        max_registers=48,
        entries=("mbarrier_handshake", "barrier_script"),
    ),
)
