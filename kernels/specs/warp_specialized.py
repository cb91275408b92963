"""Lesson 9's kernel: a GEMM with 1 to 3 consumer warpgroups, with or without a producer warpgroup and setmaxnreg.

d, registers = kernels.load("warp_specialized")(a, b, consumers=3, roles="setmaxnreg")     # d = a @ b.T
registers (int32): what each warpgroup of a block asked for by setmaxnreg, registers a thread; 0 where it asked nothing.

roles: "consumer copies" (no producer; a thread of the first consumer refills the ring), "producer" (a warpgroup of its own copies; everybody
keeps the registers of the launch), "setmaxnreg" (as well, the producer gives registers back and the consumers take them).
"""

from __future__ import annotations

import numpy as np

from kernels.arrays import require_choice
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, ceil_div
from kernels.specs import gemm
from kernels.tensormap import TensorMap

ROLES = {
    "consumer copies": {"PRODUCER": 0},
    "producer": {"PRODUCER": 1, "MOVE_REGISTERS": 0},
    "setmaxnreg": {"PRODUCER": 1, "MOVE_REGISTERS": 1},
}
WARPGROUP, TILE_N, MOST_CONSUMERS = 128, 256, 3
SM_REGISTERS, MOST_REGISTERS = 65536, 256
BLOCK_SHARED = 232_448  # bytes a block may have on sm_90
PRODUCER_REGISTERS = tuple(range(24, 129, 8))


def launch_registers(threads: int) -> int:
    """Registers of each of a block's `threads` at launch, one block an SM: in steps of 8, at most the 255 an instruction can name."""
    return min(SM_REGISTERS // threads // 8 * 8, 255)


def consumer_registers(threads: int, producer_registers: int, consumer_groups: int) -> int:
    """The largest setmaxnreg request that every consumer warpgroup gets: a multiple of 8, at most 256."""
    pool = threads // WARPGROUP * (SM_REGISTERS // threads // 8 * 8)
    return min((pool - producer_registers) // consumer_groups // 8 * 8, MOST_REGISTERS)


def shared_bytes(consumers: int, stages: int) -> int:
    """A (64 consumers x 64) tile of A, a (256 x 64) tile of B and two barriers a stage."""
    return stages * ((64 * consumers + TILE_N) * gemm.TILE_K * 2 + 16)


def most_stages(consumers: int) -> int:
    return BLOCK_SHARED // shared_bytes(consumers, 1)


def check(a, b, *, consumers=2, roles="setmaxnreg", stages=3, producer_registers=24, out="fp32") -> None:
    gemm.check(a, b, out=out)
    require_choice("consumers", consumers, tuple(range(1, MOST_CONSUMERS + 1)))
    require_choice("roles", roles, tuple(ROLES))
    require_choice("stages", stages, tuple(range(2, most_stages(consumers) + 1)))
    require_choice("producer_registers", producer_registers, PRODUCER_REGISTERS)
    if roles == "setmaxnreg" and producer_registers > launch_registers((consumers + 1) * WARPGROUP):
        raise ArgumentError(
            f"The producer is launched with {launch_registers((consumers + 1) * WARPGROUP)} registers a thread and cannot give "
            f"back down to {producer_registers}: take fewer."
        )


def launch_of(
    a, b, d, registers, size, consumers: int, roles: str, stages: int, producer_registers: int, out: str
) -> Launch:
    """One launch on arrays in padded rows (see kernels.specs.gemm); registers may be None."""
    m, n, k = size
    tile_m = 64 * consumers
    maps = [
        TensorMap(x[:, :k], (tile, gemm.TILE_K), l2=256, dtype="bfloat16") for x, tile in ((a, tile_m), (b, TILE_N))
    ]
    args = [*maps, d, registers, np.int32(m), np.int32(n), np.int32(k), np.int32(d.shape[1])]
    threads = (consumers + ROLES[roles]["PRODUCER"]) * WARPGROUP
    defines = {"STAGES": stages, "CONSUMERS": consumers, "OUT": gemm.OUT[out], **ROLES[roles]}
    if roles == "setmaxnreg":
        defines["PRODUCER_REGISTERS"] = producer_registers
    return Launch(
        "warp_specialized", (ceil_div(n, TILE_N), ceil_div(m, tile_m)), (threads,), args,
        shared_bytes(consumers, stages), defines=defines, registers=launch_registers(threads),
    )  # fmt: skip


def plan(ctx, a, b, *, consumers=2, roles="setmaxnreg", stages=3, producer_registers=24, out="fp32") -> Plan:
    (m, k), n = a.shape, b.shape[0]
    groups = consumers + ROLES[roles]["PRODUCER"]
    d, registers = ctx.empty((m, gemm.pitch(n)), out), ctx.empty((groups,), "int32")
    a, b = gemm.padded(ctx, a), gemm.padded(ctx, b)
    launch = launch_of(a, b, d, registers, (m, n, k), consumers, roles, stages, producer_registers, out)
    return Plan([launch], (d[:, :n], registers))


def asked(function, consumers: int, roles: str, producer_registers: int) -> np.ndarray:
    """What each warpgroup asks for; a consumer's share by a function of (threads, producer_registers, consumer_groups)."""
    producer = ROLES[roles]["PRODUCER"]
    threads = (consumers + producer) * WARPGROUP
    if roles != "setmaxnreg":
        return np.zeros(consumers + producer)
    share = function(threads, producer_registers, consumers)
    return np.array([producer_registers] + [share] * consumers, np.float64)


def reference(a, b, *, consumers=2, roles="setmaxnreg", stages=3, producer_registers=24, out="fp32"):
    return gemm.reference(a, b), asked(consumer_registers, consumers, roles, producer_registers)


def exercise(function, result, /, a, b, *, consumers=2, roles="setmaxnreg", producer_registers=24, **_):
    """consumer_registers(threads, producer_registers, consumer_groups) against what the kernel's warpgroups ask for."""
    return asked(function, consumers, roles, producer_registers), result[1]


def example(
    rng, m: int = 201, n: int = 277, k: int = 331, consumers: int = 2, roles: str = "setmaxnreg", stages: int = 3,
    producer_registers: int = 24, out: str = "fp32",
):  # fmt: skip
    given, _ = gemm.example(rng, m, n, k)
    return given, dict(consumers=consumers, roles=roles, stages=stages, producer_registers=producer_registers, out=out)


def cases(rng, count: int):
    """One to three consumers, several gifts of the producer, every way to share the roles; sizes that no tile divides."""
    shares = ((3, 24), (2, 32), (1, 40), (2, 24), (3, 32), (3, 56), (1, 24), (2, 56))
    for i in range(count):
        consumers, producer = shares[i % len(shares)]
        roles = "setmaxnreg" if i % 4 < 3 else tuple(ROLES)[i // 4 % 2]
        m, n = (int(s) for s in rng.integers(1, 300, 2))
        k = int(rng.integers(1, 64 * 9))
        stages = 2 + i % (most_stages(consumers) - 1)
        label = f"{consumers} consumers, {roles}, producer {producer}, {stages} stages, {m} x {n} x {k}"
        yield Case(label, *example(rng, m, n, k, consumers, roles, stages, producer))


def laps(rng, m: int = 128, n: int = 256, k: int = 20 * gemm.TILE_K):
    """More than six laps of the ring: what its defects need."""
    return example(rng, m, n, k)


def copying(rng, m: int = 128, n: int = 256, k: int = 20 * gemm.TILE_K):
    """The same without a producer."""
    return example(rng, m, n, k, roles="consumer copies")


BUGS = {
    **{name: Bug({"BUG": name}, gemm.EXPLAINS[name], laps) for name in (*gemm.RING_BUGS, "no_register_cap")},
    "request_beyond_the_pool": Bug(
        {"BEYOND": 8},
        "Each consumer asks for 8 registers more than its share: together with the producer's they exceed what the block was launched "
        "with. The last request is never granted, and the block waits for ever.",
        laps,
    ),
    "request_by_three_warps": Bug(
        {"ASKING_WARPS": 3},
        "setmaxnreg stands in a branch that only three of the warpgroup's four warps take. It is defined for whole warpgroups only.",
        laps,
    ),
    "copies_without_empty": Bug({"BUG": "no_empty_wait"}, gemm.EXPLAINS["no_empty_wait"], copying),
}

SPECS = (
    KernelSpec(
        name="warp_specialized",
        source="warp_specialized.cu",
        computes="D = A B^T by 1 to 3 consumer warpgroups, with or without a producer and setmaxnreg, and the registers each warpgroup asks for",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        exercise=exercise,
        work=lambda a, b, *, out="fp32", **_: gemm.work(a, b, out=out),
        tolerance=lambda a, b, *, out="fp32", **_: gemm.tolerance(a, b, out=out),
        max_registers=255,  # two warpgroups: setmaxnreg's pool is what the launch bound leaves, used or not
        builds=(
            *({"OUT": "bf16", "CONSUMERS": c, "STAGES": s, **r} for c, s in ((1, 5), (2, 4)) for r in ROLES.values()),
            {"OUT": "bf16", "CONSUMERS": 3, "STAGES": 4, **ROLES["consumer copies"]},
            {"OUT": "bf16", "CONSUMERS": 3, "STAGES": 4, "PRODUCER_REGISTERS": 32, **ROLES["setmaxnreg"]},
        ),
        entries=("warp_specialized",),
        bugs=BUGS,
        compared_on_gpu=False,
    ),
)
