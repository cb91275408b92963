"""The GEMM ladder: ten kernels of one function, each adding one idea (kernels/cuda/gemm_*.cu).

    d = kernels.load("gemm_store")(a, b, out="bf16")      # d = a @ b.T

a (M, K) and b (N, K): bf16, row-major, any M, N, K >= 1. d (M, N): "bf16" or "fp32"; sums are fp32 in every rung.

The copy engine wants the address and the row stride of every tensor to be multiples of 16 bytes. Rows of a bf16 array are, where K
(for the output N) is a multiple of 8. Otherwise the plan pads: a and b are copied into rows of the next multiple of 8 elements,
filled with zeros, and d is a view of an array with such rows. The tensor maps keep the true sizes, so nothing but the stride changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kernels import arrays
from kernels.errors import ArgumentError
from kernels.spec import Bug, Case, KernelSpec, Launch, Plan, Work, ceil_div
from kernels.tensormap import TensorMap

TILE_K = 64  # elements: the 128 bytes of the swizzle
OUT = {"bf16": "bf16", "fp32": "float"}  # our name -> the C type
PITCH = 8  # elements: rows start at multiples of 16 bytes


@dataclass(frozen=True)
class Rung:
    """What a launch of a rung looks like; the constants repeat those of its source.

    tile: rows and columns of D a block (a group of the ping-pong kernel) computes.  registers: a thread's, as the launch bound caps them.
    stages, cluster, buffers: as in the source.  turns: bytes of barriers between ring and buffers.
    persistent: the grid is what fits the device, not the tiles.  wide: the same kernel with a wider tile, for the shapes it suits.
    """

    name: str
    idea: str
    threads: tuple[int, ...]
    tile: tuple[int, int]
    registers: int
    stages: int = 0
    cluster: int = 1
    persistent: bool = False
    turns: int = 0
    buffers: int = 0
    defines: Mapping[str, object] = field(default_factory=dict)
    wide: Rung | None = None

    @property
    def smem(self) -> int:
        """Bytes of dynamic shared memory, as sizeof(Smem) counts them."""
        barriers = 8 if self.stages == 1 else 16 * self.stages  # one stage has FULL only
        ring = self.stages * (self.tile[0] + self.tile[1]) * TILE_K * 2 + barriers + self.turns
        return ceil_div(ring, 1024) * 1024 + 2 * self.buffers * 64 * 128 if self.buffers else ring

    def rounds(self, m: int, n: int, sms: int) -> tuple[int, int]:
        """Patches (a cluster's tiles) in D, and how many of them the busiest cluster computes."""
        patches = ceil_div(m, self.tile[0] * self.cluster) * ceil_div(n, self.tile[1])
        return patches, ceil_div(patches, max(1, sms // self.cluster))

    def grid(self, m: int, n: int, sms: int) -> tuple[int, ...]:
        """Blocks. Persistent: as few as finish in the least number of rounds; more would only share L2 and power with them."""
        if not self.persistent:
            return (ceil_div(n, self.tile[1]), ceil_div(m, self.tile[0]))
        patches, rounds = self.rounds(m, n, sms)
        return (ceil_div(patches, rounds) * self.cluster,)

    def choose(self, m: int, n: int, sms: int) -> Rung:
        """This rung or its wide form: whichever has fewer columns to compute one after the other, rounds times tile width."""
        if self.wide and self.wide.rounds(m, n, sms)[1] * self.wide.tile[1] < self.rounds(m, n, sms)[1] * self.tile[1]:
            return self.wide
        return self


def _pingpong() -> Rung:
    narrow = Rung("gemm_pingpong", "two consumers take turns, epilogue hidden", (384,), (128, 128), 168, stages=6, cluster=2,
                  persistent=True, turns=32, buffers=2)  # fmt: skip
    wide = {"TILE_N": 192, "STAGES": 4, "BUFFERS": 3}
    return replace(narrow, wide=replace(narrow, tile=(128, 192), stages=4, buffers=3, defines=wide))


LADDER = (
    Rung("gemm_naive", "one thread an element", (16, 16), (16, 16), 40),
    Rung("gemm_tiled", "tiles in shared memory, CUDA cores", (256,), (128, 128), 128),
    Rung("gemm_wgmma", "TMA and the matrix unit, one stage", (128,), (128, 128), 168, stages=1),
    Rung("gemm_ring", "a ring of stages, larger tile", (256,), (128, 256), 168, stages=4),
    Rung("gemm_warp_specialized", "one warpgroup copies, one multiplies", (256,), (128, 128), 128, stages=3),
    Rung("gemm_cooperative", "two consumers share a large tile", (384,), (128, 256), 168, stages=4),
    Rung("gemm_persistent", "one block an SM, grouped tile order", (384,), (128, 256), 168, stages=4, persistent=True),
    Rung("gemm_cluster", "clusters of two, B multicast", (384,), (128, 256), 168, stages=4, cluster=2, persistent=True),
    Rung(
        "gemm_store",
        "the tile leaves by stmatrix and TMA",
        (384,),
        (128, 256),
        168,
        stages=3,
        cluster=2,
        persistent=True,
        buffers=4,
    ),
    _pingpong(),
)
RUNGS = {r.name: r for r in LADDER}
CUDA_CORES = ("gemm_naive", "gemm_tiled")


def check(a, b, *, out: str = "bf16") -> None:
    """Raise ArgumentError unless a (M, K) and b (N, K) are bf16 matrices with the same K and out is "bf16" or "fp32"."""
    arrays.require_array("a", a, dtype="bf16", ndim=2)
    arrays.require_array("b", b, dtype="bf16", ndim=2)
    arrays.require_sides("a", a)
    arrays.require_sides("b", b)
    if a.shape[1] != b.shape[1]:
        raise ArgumentError(
            f"a is (M, K) and b is (N, K) with the same K; got {tuple(a.shape)} and {tuple(b.shape)}. (d = a @ b.T)"
        )
    arrays.require_choice("out", out, tuple(OUT))


def plan_for(rung: Rung):
    """The rung's plan: pads where it must, makes the tensor maps, one launch."""

    def plan(ctx, a, b, *, out: str = "bf16") -> Plan:
        (m, k), n = a.shape, b.shape[0]
        a, b = padded(ctx, a), padded(ctx, b)
        d = ctx.empty((m, pitch(n)), out)
        form = rung.choose(m, n, ctx.sms)
        return Plan([launch_of(form, a, b, d, (m, n, k), ctx.sms)], d[:, :n])

    return plan


def launch_of(form: Rung, a, b, d, size: tuple[int, int, int], sms: int) -> Launch:
    """One launch for arrays in padded rows (bf16 may be held as uint16); size is the true (M, N, K)."""
    m, n, k = size
    bf16_out = d.itemsize == 2
    i = np.int32
    if form.name in CUDA_CORES:
        args = [a, b, d, i(m), i(n), i(k), i(a.shape[1]), i(b.shape[1]), i(d.shape[1])]
    else:
        args = [
            TensorMap(a[:, :k], (form.tile[0], TILE_K), l2=256, dtype="bfloat16"),
            TensorMap(b[:, :k], (form.tile[1] // form.cluster, TILE_K), l2=256, dtype="bfloat16"),
        ]
        if form.buffers:  # D leaves by TMA, in boxes of 64 rows x 128 bytes
            args += [
                TensorMap(d[:, :n], (64, 128 // d.itemsize), dtype="bfloat16" if bf16_out else "float32"),
                i(m),
                i(n),
                i(k),
            ]
        else:
            args += [d, i(m), i(n), i(k), i(d.shape[1])]
    return Launch(
        form.name, grid=form.grid(m, n, sms), block=form.threads, args=args, smem=form.smem,
        defines={"OUT": OUT["bf16" if bf16_out else "fp32"], **form.defines}, cluster=(form.cluster, 1, 1),
        registers=form.registers,
    )  # fmt: skip


def pitch(columns: int) -> int:
    """Elements from one row to the next: the next multiple of 8."""
    return ceil_div(columns, PITCH) * PITCH


def padded(ctx, x):
    """x in rows that start at multiples of 16 bytes: itself where they do, else a copy with zeros after each row."""
    rows, columns = x.shape
    if columns % PITCH == 0:
        return x
    wide = ctx.zeros((rows, pitch(columns)), "bf16")
    wide.view("u2")[:, :columns] = x.view("u2")
    return wide


def reference(a, b, *, out: str = "bf16"):
    """a @ b.T in float64 (NumPy arrays); `out` changes nothing."""
    return a.astype(np.float64) @ b.astype(np.float64).T


def example(rng: np.random.Generator, m: int = 197, n: int = 331, k: int = 457, out: str = "fp32"):
    """Normal entries; every row of a and b has a scale of its own, so that a permuted or repeated tile cannot pass."""
    a = rng.standard_normal((m, k)) * np.linspace(0.5, 2.0, m)[:, None]
    b = rng.standard_normal((n, k)) * np.linspace(2.0, 0.5, n)[:, None]
    bf16 = arrays.DTYPES["bf16"]
    return (a.astype(bf16), b.astype(bf16)), {"out": out}


def small_example(rng: np.random.Generator, m: int = 131, n: int = 149, k: int = 83, out: str = "fp32"):
    """As example, for the CUDA-core rungs: the emulator takes every multiplication for itself."""
    return example(rng, m, n, k, out)


ODD_SIZES = ((1, 1, 1), (2, 3, 5), (127, 61, 67), (131, 149, 83), (197, 331, 457), (257, 521, 331))  # M, N, K


def cases(rng: np.random.Generator, count: int):
    """Sizes that no tile divides, K and N that TMA's strides do not divide, both outputs; then random sizes up to `count`."""
    sizes = [*ODD_SIZES, *(tuple(int(s) for s in rng.integers(1, 300, 3)) for _ in range(count))]
    for i, (m, n, k) in enumerate(sizes[:count]):
        out = ("fp32", "bf16")[i % 2]
        given, params = example(rng, m, n, k, out)
        yield Case(f"{m} x {n} x {k}, {out} out", given, params)


def tolerance(a, b, *, out: str = "bf16") -> float:
    """fp32 sums of K products, rounded once more for bf16 (half a unit in the last of 8 bits, as a norm; a single element may meet it in full)."""
    return 4e-3 if out == "bf16" else 2e-5


def work(a, b, *, out: str = "bf16") -> Work:
    (m, k), n = a.shape, b.shape[0]
    return Work(flops=2.0 * m * n * k, bytes=2 * (m * k + n * k) + arrays.DTYPES[out].itemsize * m * n)


# ------------------------------------------------------------------------------------------------------------- defects
def many_laps(rng: np.random.Generator):
    """More than three laps of the ring."""
    return example(rng, m=256, n=256, k=20 * TILE_K)


def many_tiles(rng: np.random.Generator):
    """Two tiles for each group of the ping-pong kernel on the emulator's eight SMs, each more than one lap of the ring."""
    return example(rng, m=512, n=512, k=9 * TILE_K)


EXPLAINS = {
    "no_empty_wait": "The producer does not wait for EMPTY: from the second lap on it overwrites stages that wgmmas still read. Wrong sums, "
    "or right ones as long as the consumers happen to be faster.",
    "no_phase_bit": "The parity never flips when the index wraps: in the second lap every wait asks for the first lap's phase, which is over, "
    "and passes at once (ABA). The consumers read stages before they are filled, the producer fills them before they are free.",
    "empty_before_wgmma_wait": "EMPTY is arrived at after the wgmmas were issued, not after they are done: the next load overwrites what the "
    "matrix unit is still reading.",
    "wrong_expect_tx": "FULL expects 128 bytes too few. If the count meets zero just before the last bytes land, the phase completes early and "
    "these count against the next; else the count ends below zero, the phase never completes, and everybody waits for ever.",
    "no_full_wait": "The consumers do not wait for FULL: they multiply what is in shared memory, landed or not.",
    "no_proxy_fence": "The tile is written to shared memory by ordinary stores and stored by the copy engine without fence_proxy_async: the "
    "copy engine may read what was there before.",
    "no_mbarrier_init_fence": "No fence_mbarrier_init after mbarrier_init: the copy engine and other blocks may use a barrier before they "
    "can see that it was initialised.",
    "no_register_cap": "The kernel has no launch bound, so the compiler cannot tell how many registers the block starts with: it ignores "
    "setmaxnreg (remark C7508), and every thread keeps what the compiler gave all.",
    "no_mainloop_order": "Both ping-pong groups run their mainloop at once. The later tile's group waits for phases that lie two or more laps "
    "ahead; one parity bit cannot tell them from this lap's, so it multiplies the other tile's stages.",
}
RING_BUGS = (
    "no_empty_wait",
    "no_phase_bit",
    "empty_before_wgmma_wait",
    "wrong_expect_tx",
    "no_full_wait",
    "no_mbarrier_init_fence",
)
BUGS = {
    "gemm_wgmma": ("no_phase_bit", "wrong_expect_tx", "no_full_wait", "no_mbarrier_init_fence"),
    "gemm_ring": RING_BUGS,
    "gemm_warp_specialized": (*RING_BUGS, "no_register_cap"),
    "gemm_cooperative": (*RING_BUGS, "no_register_cap"),
    "gemm_persistent": (*RING_BUGS, "no_register_cap"),
    "gemm_cluster": (*RING_BUGS, "no_register_cap"),
    "gemm_store": (*RING_BUGS, "no_register_cap", "no_proxy_fence"),
    "gemm_pingpong": (*RING_BUGS, "no_register_cap", "no_proxy_fence", "no_mainloop_order"),
}


def spec_of(rung: Rung) -> KernelSpec:
    return KernelSpec(
        name=rung.name,
        source=f"{rung.name}.cu",
        computes=f"D = A B^T, bf16 in, fp32 sums, bf16 or fp32 out: {rung.idea}",
        plan=plan_for(rung),
        check=check,
        reference=reference,
        example=small_example if rung.name in CUDA_CORES else example,
        max_registers=rung.registers,
        work=work,
        tolerance=tolerance,
        cases=cases,
        builds=tuple({"OUT": c, **f.defines} for f in (rung, rung.wide) if f for c in OUT.values()),
        entries=(rung.name,),
        bugs={
            name: Bug({"BUG": name}, EXPLAINS[name], many_tiles if name == "no_mainloop_order" else many_laps)
            for name in BUGS.get(rung.name, ())
        },
    )


SPECS = tuple(spec_of(r) for r in LADDER)
