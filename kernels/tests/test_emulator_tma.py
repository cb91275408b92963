"""Copies: boxes that hang over every edge, swizzles, bytes counted in full, multicast, stores and their groups."""

import ml_dtypes
import numpy as np
import pytest
from emulator_sources import compiled, line_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import ArgumentError, TensorMap
from kernels.emulator import EmulatorDeadlock, EmulatorMisuse, EmulatorOutOfBounds, EmulatorRace

SOURCE = """#include "hopper.cuh"
struct Smem { alignas(1024) uint8_t box[16384]; mbarrier bar; };
// Loads `count` boxes one after the other and writes each out, swizzle undone by the vocabulary's own formula.
template <int Swizzle> HOPPER_FN void load_boxes(const TensorMap& map, const int* at, int count, uint8_t* out, int rows, int row_bytes) {
  DYNAMIC_SHARED(Smem, s);
  if (threadIdx.x == 0) { mbarrier_init(&s.bar, 1, "BAR"); fence_mbarrier_init(); }
  __syncthreads();
  for (int i = 0; i < count; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&s.bar, rows * row_bytes);
      tma_load_2d(s.box, &map, at[2 * i], at[2 * i + 1], &s.bar);
    }
    mbarrier_wait(&s.bar, i & 1);
    for (int b = threadIdx.x; b < rows * row_bytes; b += blockDim.x)
      out[i * rows * row_bytes + b] = s.box[swizzled_offset<Swizzle>(b / row_bytes, b % row_bytes, row_bytes)];
    __syncthreads();
  }
}
#define LOADS(n) extern "C" __global__ void load_##n(const __grid_constant__ TensorMap map, const int* at, int count, uint8_t* out, \\
                                                     int rows, int row_bytes) { load_boxes<n>(map, at, count, out, rows, row_bytes); }
LOADS(0) LOADS(32) LOADS(64) LOADS(128)

extern "C" __global__ void swizzle_table(uint32_t* out, int rows) {
  for (uint32_t i = threadIdx.x; i < rows * 128; i += blockDim.x) {
    out[i] = swizzled_offset<128>(i / 128, i % 128);
    out[rows * 128 + i] = swizzled_offset<64>(i / 64, i % 64);
    out[rows * 256 + i] = swizzled_offset<32>(i / 32, i % 32);
  }
}

extern "C" __global__ void one_load(const __grid_constant__ TensorMap map, int expect, int offset, float* out) {
  DYNAMIC_SHARED(Smem, s);
  if (threadIdx.x == 0) {
    mbarrier_init(&s.bar, 1, "BAR");
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s.bar, expect);
    tma_load_2d(s.box + offset, &map, 0, 0, &s.bar);   // the load
  }
  __syncthreads();
  mbarrier_wait(&s.bar, 0);
  out[threadIdx.x] = ((float*)s.box)[threadIdx.x];     // the read
#if TIDY
  if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&s.bar, 0);
#endif
}

// Copies a matrix through shared memory box by box, in place of nothing: src box (x, y) -> dst box (x, y).
extern "C" __global__ void copy(const __grid_constant__ TensorMap src, const __grid_constant__ TensorMap dst, int tiles_x, int bytes) {
  SHARED_ALIGNED(1024, uint8_t, box, [2][8192]);
  SHARED(mbarrier, bar, [2]);
  if (threadIdx.x) return;
  for (int i = 0; i < 2; ++i) mbarrier_init(&bar[i], 1, "BAR", i);
  fence_mbarrier_init();
  const int count = tiles_x * gridDim.y;
  for (int i = 0; i < count; ++i) {
    const int x = i % tiles_x * 32, y = i / tiles_x * 16, k = i % 2;
#if BUG != 1
    tma_store_wait_read<1>();                          // the box of two rounds ago has left shared memory
#endif
    mbarrier_arrive_expect_tx(&bar[k], bytes);
    tma_load_2d(box[k], &src, x, y, &bar[k]);          // refill
    mbarrier_wait(&bar[k], i / 2 & 1);
    tma_store_2d(&dst, box[k], x, y);
    tma_store_commit();
  }
#if BUG != 2
  tma_store_wait<0>();
#endif
}

extern "C" __global__ void stored_by_threads(const __grid_constant__ TensorMap dst, const float* x) {
  SHARED(float, box, [16 * 32]);
  for (int i = threadIdx.x; i < 512; i += blockDim.x) box[i] = x[i];   // ordinary stores
#if BUG != 1
  fence_proxy_async();
#endif
#if BUG != 2
  __syncthreads();
#endif
  if (threadIdx.x == 0) { tma_store_2d(&dst, box, 0, 0); tma_store_commit(); tma_store_wait_read<0>(); }
  __syncthreads();
  box[threadIdx.x] = 0;                                                // reuse
}

struct Pair { alignas(1024) float box[2][16 * 32]; mbarrier full; };
extern "C" __global__ void __cluster_dims__(2) multicast(const __grid_constant__ TensorMap map, float* out) {
  DYNAMIC_SHARED(Pair, s);
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) { mbarrier_init(&s.full, 1, "FULL"); fence_mbarrier_init(); }
#if BUG != 1
  cluster_sync();
#else
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&s.full, 2 * 2048);
    tma_load_2d_multicast(s.box[rank], &map, 0, 16 * rank, &s.full, 3);   // each block brings half, for both
  }
  mbarrier_wait(&s.full, 0);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) out[blockIdx.x * 1024 + i] = s.box[i / 512][i % 512];
  cluster_sync();
}
"""


@pytest.fixture(scope="module")
def module():
    names = [
        "load_0",
        "load_32",
        "load_64",
        "load_128",
        "swizzle_table",
        "one_load",
        "copy",
        "stored_by_threads",
        "multicast",
    ]
    return compiled("tma", SOURCE, *names, TIDY=0, BUG=0)


def sliced(a: np.ndarray, x: int, y: int, box: tuple[int, int]) -> np.ndarray:
    """The box of `a` at column x, row y; zeros outside."""
    padded = np.zeros(box, a.dtype)
    rows, columns = np.arange(y, y + box[0]), np.arange(x, x + box[1])
    r, c = (rows >= 0) & (rows < a.shape[0]), (columns >= 0) & (columns < a.shape[1])
    padded[np.ix_(r, c)] = a[np.ix_(rows[r], columns[c])]
    return padded


@st.composite
def boxes(draw):
    swizzle = draw(st.sampled_from([0, 32, 64, 128]))
    dtype = np.dtype(draw(st.sampled_from([np.uint8, np.float16, np.float32])))
    row_bytes = draw(st.sampled_from([b for b in (16, 32, 64, 128) if not swizzle or b == swizzle]))
    box = (draw(st.integers(1, 32)), row_bytes // dtype.itemsize)
    shape = (draw(st.integers(1, 40)), draw(st.integers(1, 90)))
    at = draw(
        st.lists(
            st.tuples(st.integers(-box[1] - 2, shape[1] + 2), st.integers(-box[0] - 2, shape[0] + 2)),
            min_size=1,
            max_size=6,
        )
    )
    return swizzle, dtype, box, shape, at, draw(st.integers(0, 2**31))


@settings(max_examples=40, deadline=None)
@given(case=boxes())
def test_a_box_is_the_slice_with_zeros_outside(module, case):
    swizzle, dtype, box, shape, at, seed = case
    pitch = -(-shape[1] * dtype.itemsize // 16) * 16 // dtype.itemsize  # rows are multiples of 16 bytes apart
    rng = np.random.default_rng(seed)
    a = rng.integers(1, 200, (shape[0], pitch)).astype(dtype)[:, : shape[1]]
    out = np.full((len(at), *box), 99, dtype)
    module.launch(
        f"load_{swizzle}", 1, 64, [TensorMap(a, box, swizzle), np.array(at, np.int32), len(at), out, box[0], box[1] * dtype.itemsize],
        smem=16384 + 1024, seed=seed,
    )  # fmt: skip
    for got, (x, y) in zip(out, at, strict=True):
        np.testing.assert_array_equal(got, sliced(a, x, y, box))


def test_swizzle_permutes_chunks_within_rows_and_is_its_own_inverse(module):
    rows = 32
    tables = np.empty((3, rows * 128), np.uint32)
    module.launch("swizzle_table", 1, 64, [tables, rows])
    linear = np.arange(rows * 128)
    for table, span in zip(tables, (128, 64, 32), strict=True):
        assert sorted(table) == linear.tolist()  # a bijection
        assert (table // 128 == linear // 128).all() and (
            table % 16 == linear % 16
        ).all()  # chunks stay in their 128-byte line
        np.testing.assert_array_equal(table[table], linear)  # an involution
        if span == 128:  # eight rows' chunks of one column lie in eight different chunk columns: no bank conflict
            assert {int(t) // 16 % 8 for t in table[np.arange(8) * 128]} == set(range(8))


def test_an_edge_box_counts_its_bytes_in_full(module):
    a = np.ones((4, 32), np.float32)  # the box has 16 rows: 12 lie outside
    out = np.full(64, -1, np.float32)
    module.launch("one_load", 1, 64, [TensorMap(a, (16, 32), 0), 2048, 0, out], smem=16384 + 1024)
    assert (out == 1).all()
    with pytest.raises(EmulatorDeadlock, match="1536 bytes landed that nobody expected"):
        module.launch("one_load", 1, 64, [TensorMap(a, (16, 32), 0), 512, 0, out], smem=16384 + 1024)
    with pytest.raises(EmulatorDeadlock, match="64 bytes expected that no copy brings"):
        module.launch("one_load", 1, 64, [TensorMap(a, (16, 32), 0), 2112, 0, out], smem=16384 + 1024)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("policy", ["friendly", "random", "late"])
def test_expecting_nothing_is_an_early_read_at_every_seed(module, seed, policy):
    a = np.ones((16, 32), np.float32)
    with pytest.raises(EmulatorRace) as e:
        module.launch(
            "one_load",
            1,
            64,
            [TensorMap(a, (16, 32), 0), 0, 0, np.zeros(64, np.float32)],
            smem=16384 + 1024,
            seed=seed,
            policy=policy,
        )
    assert "read-after-write" in {f.rule for f in e.value.report.findings} or "uninitialized-read" in {
        f.rule for f in e.value.report.findings
    }
    assert any(p.line == line_of(SOURCE, "// the read") for f in e.value.report.findings for p in f.places)


@pytest.mark.parametrize("offset,swizzle,error", [(64, 0, "128-byte"), (512, 128, "1024-byte"), (256, 64, "512-byte")])
def test_misaligned_destination(module, offset, swizzle, error):
    a = np.ones((16, 32 if swizzle != 64 else 16), np.float32)
    with pytest.raises(EmulatorMisuse, match=error) as e:
        module.launch(
            "one_load",
            1,
            64,
            [TensorMap(a, (16, a.shape[1]), swizzle), 2048, offset, np.zeros(64, np.float32)],
            smem=16384 + 1024,
        )
    assert e.value.report.findings[0].places[0].line == line_of(SOURCE, "// the load")


def test_destination_beyond_shared_memory(module):
    a = np.ones((256, 32), np.float32)
    with pytest.raises(EmulatorOutOfBounds, match="TMA destination"):
        module.launch(
            "one_load", 1, 64, [TensorMap(a, (256, 32), 0), 32768, 0, np.zeros(64, np.float32)], smem=16384 + 1024
        )


@pytest.mark.parametrize("policy", ["friendly", "random", "pct", "late", "timed"])
@pytest.mark.parametrize("shape", [(16, 32), (37, 75), (64, 64)])
def test_copy_through_shared_memory_with_clipped_stores(module, policy, shape):
    rng = np.random.default_rng(1)
    pitch = -(-shape[1] // 4) * 4
    src, whole = (
        rng.standard_normal((shape[0], pitch)).astype(np.float32),
        np.full((shape[0] + 2, pitch), 7, np.float32),
    )
    dst = whole[1:-1]
    tiles_x, tiles_y = -(-shape[1] // 32), -(-shape[0] // 16)
    module.launch("copy", (1, tiles_y), 32, [TensorMap(src[:, : shape[1]], (16, 32), 0), TensorMap(dst[:, : shape[1]], (16, 32), 0), tiles_x, 2048],
                  policy=policy, seed=3, sms=1, checks=tiles_y == 1)  # fmt: skip
    np.testing.assert_array_equal(dst[:, : shape[1]], src[:, : shape[1]])
    assert (
        (whole[0] == 7).all() and (whole[-1] == 7).all() and (dst[:, shape[1] :] == 7).all()
    )  # nothing outside was written


STORE_BUGS = {1: ("write-after-read", "// refill"), 2: ("exit-before-store", "tma_store_commit();")}


@pytest.mark.parametrize("bug", STORE_BUGS)
@pytest.mark.parametrize("policy", ["friendly", "random", "late"])
def test_store_source_reused_or_left_too_early(bug, policy):
    module = compiled("tma", SOURCE, "copy", TIDY=0, BUG=bug)
    a = np.ones((16, 128), np.float32)
    b = np.zeros_like(a)
    for seed in range(5):
        with pytest.raises(EmulatorRace) as e:
            module.launch(
                "copy", 1, 32, [TensorMap(a, (16, 32), 0), TensorMap(b, (16, 32), 0), 4, 2048], seed=seed, policy=policy
            )
        rule, marker = STORE_BUGS[bug]
        found = {f.rule: f for f in e.value.report.findings}
        assert rule in found and found[rule].places[0].line == line_of(SOURCE, marker)


@pytest.mark.parametrize(
    "bug,rules", [(1, {"missing-proxy-fence"}), (2, {"read-after-write", "write-after-read", "uninitialized-read"})]
)
@pytest.mark.parametrize("policy", ["friendly", "random", "pct"])
def test_ordinary_stores_before_a_tma_store(module, bug, rules, policy):
    broken = compiled("tma", SOURCE, "stored_by_threads", TIDY=0, BUG=bug)
    x = np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32)
    for seed in range(5):
        out = np.zeros_like(x)
        assert module.launch(
            "stored_by_threads", 1, 64, [TensorMap(out, (16, 32), 0), x], seed=seed, policy=policy
        ).clean
        np.testing.assert_array_equal(out, x)
        with pytest.raises(EmulatorRace) as e:
            broken.launch("stored_by_threads", 1, 64, [TensorMap(out, (16, 32), 0), x], seed=seed, policy=policy)
        assert rules & {f.rule for f in e.value.report.findings}
    if bug == 1:
        finding = e.value.report.findings[0]
        assert "fence_proxy_async()" in finding.message
        assert line_of(SOURCE, "// ordinary stores") in {p.line for p in finding.places}


@pytest.mark.parametrize("policy", ["friendly", "rr", "random", "pct", "late", "timed"])
def test_multicast_reaches_every_block_of_the_cluster(module, policy):
    a = np.random.default_rng(5).standard_normal((32, 32)).astype(np.float32)
    for seed in range(4):
        out = np.zeros((4, 32, 32), np.float32)
        module.launch(
            "multicast", 4, 64, [TensorMap(a, (16, 32), 0), out], smem=4096 + 1024, cluster=2, seed=seed, policy=policy
        )
        for block in out:
            np.testing.assert_array_equal(block, a)


def test_multicast_before_the_peer_has_its_barrier():
    module = compiled("tma", SOURCE, "multicast", TIDY=0, BUG=1)
    a = np.ones((32, 32), np.float32)
    seen = set()
    for seed in range(12):
        with pytest.raises((EmulatorRace, EmulatorMisuse)) as e:
            module.launch(
                "multicast",
                2,
                64,
                [TensorMap(a, (16, 32), 0), np.zeros((2, 32, 32), np.float32)],
                smem=4096 + 1024,
                cluster=2,
                seed=seed,
            )
        seen |= {f.rule for f in e.value.report.findings}
    assert seen & {"mbarrier-init-not-ordered", "missing-mbarrier-init-fence", "mbarrier-not-initialised"}


def test_bfloat16_and_fp8_maps(module):
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        a = np.arange(16 * 64).reshape(16, 64).astype(dtype)
        columns = 128 // a.itemsize if a.itemsize == 2 else 64
        out = np.zeros((1, 16, columns), dtype)
        module.launch("load_128" if a.itemsize == 2 else "load_64", 1, 32,
                      [TensorMap(a, (16, columns), 128 if a.itemsize == 2 else 64), np.zeros(2, np.int32), 1, out, 16, columns * a.itemsize], smem=16384 + 1024)  # fmt: skip
        np.testing.assert_array_equal(out[0].astype(np.float32), sliced(a.astype(np.float32), 0, 0, (16, columns)))


def test_maps_the_hardware_refuses():
    with pytest.raises(ArgumentError):
        TensorMap(np.ones((4, 5), np.float32), (4, 5))  # 20 bytes a row
