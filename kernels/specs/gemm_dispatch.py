"""Lesson 8's kernel: one GEMM in many tile configurations, and a table that chooses.

config = choose(m, n, sms=132).name                                        # "128x256", say
d, accumulators = kernels.load("gemm_dispatch")(a, b, config=config)        # d = a @ b.T; accumulators: (1,), registers a consumer thread holds
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.arrays import require_choice
from kernels.errors import ArgumentError
from kernels.spec import Case, KernelSpec, Launch, Plan, ceil_div
from kernels.specs import gemm
from kernels.tensormap import TensorMap

SHARED_LIMIT, REGISTERS_PER_SM, MOST_REGISTERS, WARPGROUP = 227 * 1024, 65536, 255, 128
SHARED_OF_SM, SHARED_RESERVED = 228 * 1024, 1024  # of an SM, and of it what each block takes for the system
OTHER_REGISTERS = (
    26  # what this kernel's consumer keeps beside its accumulators: as compiled, at every tile that does not spill
)
PRODUCER_REGISTERS = 24


def accumulator_registers(tile_m: int, tile_n: int, consumer_warpgroups: int) -> int:
    """fp32 accumulators that each thread of a consumer warpgroup holds."""
    return tile_m * tile_n // (WARPGROUP * consumer_warpgroups)


@dataclass(frozen=True)
class Config:
    """A tile configuration. blocks: how many are to share an SM."""

    tile_m: int
    tile_n: int
    stages: int
    consumers: int
    blocks: int

    @property
    def name(self) -> str:
        return f"{self.tile_m}x{self.tile_n}"

    @property
    def threads(self) -> int:
        return (1 + self.consumers) * WARPGROUP

    @property
    def smem(self) -> int:
        """Bytes a block, as sizeof(Ring) counts them."""
        return self.stages * ((self.tile_m + self.tile_n) * gemm.TILE_K * 2 + 16)

    @property
    def at_launch(self) -> int:
        """Registers a thread has before setmaxnreg."""
        return min(248, REGISTERS_PER_SM // (self.blocks * self.threads) // 8 * 8)

    @property
    def for_consumers(self) -> int:
        """Registers a consumer thread may use: what setmaxnreg gives it, or all a thread can address."""
        given = (self.at_launch + (self.at_launch - PRODUCER_REGISTERS) // self.consumers) // 8 * 8
        return min(248, given) if self.at_launch < 248 else MOST_REGISTERS

    @property
    def accumulators(self) -> int:
        return accumulator_registers(self.tile_m, self.tile_n, self.consumers)

    @property
    def defines(self) -> dict[str, int]:
        return {
            "TILE_M": self.tile_m,
            "TILE_N": self.tile_n,
            "STAGES": self.stages,
            "CONSUMERS": self.consumers,
            "BLOCKS": self.blocks,
        }

    def fits(self) -> str:
        """ "" where it fits an SM of Hopper, else the rule it breaks, in a sentence."""
        who = f"{self.name} with {self.consumers} consumer warpgroup(s)"
        if self.accumulators + OTHER_REGISTERS > self.for_consumers:
            return f"{who} needs {self.accumulators} accumulators a thread and about {OTHER_REGISTERS} more; a consumer thread has {self.for_consumers} registers for everything."
        if self.tile_n // 2 + OTHER_REGISTERS > self.at_launch:
            return f"{who} issues wgmmas of {self.tile_n // 2} accumulators; a thread has {self.at_launch} registers at launch, and the compiler counts no others for one instruction."
        if self.smem > SHARED_LIMIT or self.blocks * (self.smem + SHARED_RESERVED) > SHARED_OF_SM:
            return f"{self.name} with {self.stages} stages needs {self.smem} B of shared memory; {self.blocks} block(s) must share an SM's 227 KB."
        return ""

    def tiles(self, m: int, n: int) -> int:
        return ceil_div(m, self.tile_m) * ceil_div(n, self.tile_n)


CONFIGS = {
    c.name: c
    for c in (
        Config(64, 64, 4, 1, 3),
        Config(64, 128, 4, 1, 2),
        Config(64, 256, 5, 1, 1),
        Config(128, 64, 4, 1, 2),
        Config(128, 128, 3, 1, 2),
        Config(128, 192, 5, 2, 1),
        Config(128, 256, 4, 2, 1),
        Config(256, 64, 5, 2, 1),
        Config(256, 128, 4, 2, 1),
    )
}
SPILLS = Config(256, 128, 4, 1, 1)  # 256 accumulators in one warpgroup: builds, and spills


def choose(m: int, n: int, sms: int, rates=None, stages: int = 0) -> Config:
    """The configuration that should end first: the tiles of the busiest SM, times a tile's work, over the rate of its mainloop.

    rates: name -> FLOP/s with all SMs busy, as measured; None: the tile's arithmetic intensity stands in, up to 64 FLOP/byte.
    stages: what an SM needs in flight to run at that rate, the rings of all blocks that are really there counted; with fewer it is
    slower in proportion. 0 leaves that out, and then a configuration made for two blocks an SM is chosen where there is one.
    """

    def cost(c: Config) -> float:
        rate = rates[c.name] if rates else min(1.0, c.tile_m * c.tile_n / (c.tile_m + c.tile_n) / 64)
        share = ceil_div(c.tiles(m, n), sms)
        if stages:
            rate *= min(1.0, min(c.blocks, share) * c.stages / stages)
        return share * c.tile_m * c.tile_n / rate

    return min(CONFIGS.values(), key=lambda c: (cost(c), -c.tile_m * c.tile_n, c.name))


def check(a, b, config="128x128", out="fp32") -> None:
    gemm.check(a, b, out=out)
    require_choice("config", config, tuple(CONFIGS))


def launch_of(c: Config, a, b, d, accumulators, size, out: str) -> Launch:
    """One launch on arrays in padded rows (see kernels.specs.gemm); accumulators may be None. Raises ArgumentError where c does not fit."""
    if c is not SPILLS and c.fits():
        raise ArgumentError(c.fits())
    m, n, k = size
    maps = [
        TensorMap(x[:, :k], (rows, gemm.TILE_K), l2=256, dtype="bfloat16") for x, rows in ((a, c.tile_m), (b, c.tile_n))
    ]
    args = [*maps, d, accumulators, np.int32(m), np.int32(n), np.int32(k), np.int32(d.shape[1])]
    defines = {**c.defines, "OUT": gemm.OUT[out]}
    return Launch("gemm_dispatch", (c.tiles(m, n),), (c.threads,), args, c.smem, defines=defines, registers=c.at_launch)


def plan(ctx, a, b, config="128x128", out="fp32") -> Plan:
    (m, k), n = a.shape, b.shape[0]
    c = CONFIGS[config]
    d, accumulators = ctx.empty((m, gemm.pitch(n)), out), ctx.empty((1,), "int32")
    return Plan(
        [launch_of(c, gemm.padded(ctx, a), gemm.padded(ctx, b), d, accumulators, (m, n, k), out)],
        (d[:, :n], accumulators),
    )


def reference(a, b, config="128x128", out="fp32"):
    return gemm.reference(a, b), np.array([float(CONFIGS[config].accumulators)])


def exercise(function, result, /, a, b, config="128x128", **_):
    """accumulator_registers(tile_m, tile_n, consumer_warpgroups) against what the kernel's threads hold."""
    c = CONFIGS[config]
    return [function(c.tile_m, c.tile_n, c.consumers)], result[1]


def example(rng, m: int = 197, n: int = 331, k: int = 257, config: str = "128x128", out: str = "fp32"):
    given, _ = gemm.example(rng, m, n, k)
    return given, dict(config=config, out=out)


def cases(rng, count: int):
    """Every configuration at sizes that no tile divides."""
    for i in range(count):
        name = list(CONFIGS)[(4 + i) % len(CONFIGS)]
        m, n, k = (int(s) for s in (rng.integers(1, 300), rng.integers(1, 300), rng.integers(1, 400)))
        yield Case(f"{name}, {m} x {n} x {k}", *example(rng, m, n, k, name))


SPECS = (
    KernelSpec(
        name="gemm_dispatch",
        source="gemm_dispatch.cu",
        computes="D = A B^T in one of nine tile configurations, and the accumulators its threads hold",
        plan=plan,
        check=check,
        reference=reference,
        example=example,
        cases=cases,
        exercise=exercise,
        work=lambda a, b, config="128x128", out="fp32": gemm.work(a, b, out=out),
        tolerance=lambda a, b, config="128x128", out="fp32": gemm.tolerance(a, b, out=out),
        max_registers=248,
        builds=tuple({**c.defines, "OUT": "bf16"} for c in CONFIGS.values()),
        entries=("gemm_dispatch",),
    ),
)
