"""Plain loads and stores: races by vector clocks in shared and global memory, bounds, flags between blocks, spin loops."""

import numpy as np
import pytest
from emulator_sources import compiled, line_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.emulator import EmulatorDeadlock, EmulatorMisuse, EmulatorOutOfBounds, EmulatorRace, EmulatorTimeout

SOURCE = """#include "hopper.cuh"
extern "C" __global__ void tree(const float* x, float* y) {
  SHARED(float, s, [256]);
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int o = 128; o; o >>= 1) {
    if (t < o) s[t] += s[t + o];                 // sum
#if !BUG
    __syncthreads();
#endif
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
extern "C" __global__ void reverse_warp(const float* x, float* y) {
  SHARED(float, s, [32]);
  s[threadIdx.x] = x[threadIdx.x];
#if !BUG
  __syncwarp();
#else
  __shfl_sync(~0u, 0, 0);                        // shuffles order no memory
#endif
  y[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void bytes(uint8_t* y) {   // neighbours in one 16-byte word are different locations
  SHARED(uint8_t, s, [64]);
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void uninitialised(float* y) {
  SHARED(float, s, [32]);
  if (threadIdx.x != 7) s[threadIdx.x] = 1;
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x];               // one was never written
}
extern "C" __global__ void global_oob(const float* x, float* y, int shift) { y[threadIdx.x] = x[(int)threadIdx.x + shift]; }
extern "C" __global__ void shared_oob(float* y, int shift) {
  SHARED(float, a, [32]);
  SHARED(float, b, [32]);
  b[threadIdx.x] = 2;
  a[threadIdx.x + shift] = 1;                    // beyond a
  __syncthreads();
  y[threadIdx.x] = a[threadIdx.x];
}
extern "C" __global__ void vectors(const float* x, float* y, int shift) {
  store128(y + 4 * threadIdx.x, load128(x + 4 * threadIdx.x + shift));   // vector access
}
extern "C" __global__ void copies(const int4* x, int4* y) {             // whole structs through memcpy
  SHARED(int4, s, [64][4]);
  for (int i = 0; i < 4; ++i) s[threadIdx.x][i] = x[threadIdx.x * 4 + i];
#if !BUG
  __syncthreads();
#endif
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = s[63 - threadIdx.x][i];
}
extern "C" __global__ void hand_over(float* data, uint32_t* flag, float* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x + 1.0f;      // produce
    __syncthreads();
#if BUG == 1
    if (threadIdx.x == 0) atomicExch(flag, 1u);  // relaxed: orders nothing
#elif BUG == 3
    __threadfence();
    if (threadIdx.x == 0) atomicExch(flag, 1u);
#else
    if (threadIdx.x == 0) store_release(flag, 1);
#endif
  } else {
#if BUG != 2
    if (threadIdx.x == 0) while (load_acquire(flag) == 0) {}
    __syncthreads();
#endif
    out[threadIdx.x] = data[threadIdx.x];        // consume
  }
}
extern "C" __global__ void counted(float* parts, uint32_t* counter, float* out) {   // the last block to finish adds all parts
  SHARED(uint32_t, turn, [1]);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1.0f;
    turn[0] = atomic_add_release(counter, 1);
    if (turn[0] == gridDim.x - 1) {
#if !BUG
      load_acquire(counter);
#endif
      float sum = 0;
      for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];                     // add
      out[0] = sum;
    }
  }
}
extern "C" __global__ void counter(int* c, int* lost) {
  atomicAdd(c, 1);
  int v = *lost;                                 // not atomic
  *lost = v + 1;
}
extern "C" __global__ void mixed(int* c) { if (threadIdx.x < 32) atomicAdd(c, 1); else *c = 5; }
extern "C" __global__ void spin(int* y, int who) {
  SHARED(volatile int, go, [1]);
  if (threadIdx.x == 0) go[0] = 0;
  __syncthreads();
  if ((int)threadIdx.x == who) go[0] = 1;
  else while (!go[0]) {}                         // spins
  y[threadIdx.x] = 1;
}
extern "C" __global__ void last_sets(uint32_t* flag) {   // all blocks wait for the last one
  if (blockIdx.x == gridDim.x - 1) store_release(flag, 1);
  else while (load_acquire(flag) == 0) {}
}
extern "C" __global__ void flag_wait(uint32_t* flag) { while (load_acquire(flag) == 0) {} }
extern "C" __global__ void misaligned(const float* x, float* y) { store128(y, load128(x + 1)); }
extern "C" __global__ void __cluster_dims__(2) peer(float* y) {      // distributed shared memory
  SHARED(float, s, [32]);
  s[threadIdx.x] = blockIdx.x * 32.0f + threadIdx.x;
#if BUG != 1
  cluster_sync();
#else
  __syncthreads();
#endif
  y[blockIdx.x * 32 + threadIdx.x] = cluster_map(s, cluster_rank() ^ 1)[threadIdx.x];   // the peer's
#if BUG != 2
  cluster_sync();
#else
  if (blockIdx.x == 0) __nanosleep(1);
#endif
}
"""
ENTRIES = ["tree", "reverse_warp", "bytes", "uninitialised", "global_oob", "shared_oob", "vectors", "copies", "hand_over", "counted", "counter", "mixed",
           "spin", "last_sets", "flag_wait", "misaligned", "peer"]  # fmt: skip
SCHEDULES = [("friendly", 0), ("random", 1), ("random", 2), ("pct", 3), ("pct", 4)]


@pytest.fixture(scope="module")
def module():
    return compiled("memory", SOURCE, *ENTRIES, BUG=0)


def broken(bug=1):
    return compiled("memory", SOURCE, *ENTRIES, BUG=bug)


def rules(e) -> set[str]:
    return {f.rule for f in e.value.report.findings}


@pytest.mark.parametrize("policy,seed", SCHEDULES)
def test_tree_reduction(module, policy, seed):
    x, y = np.random.default_rng(seed).standard_normal(512).astype(np.float32), np.zeros(2, np.float32)
    module.launch("tree", 2, 256, [x, y], policy=policy, seed=seed)
    np.testing.assert_allclose(y, x.reshape(2, 256).sum(1), rtol=1e-4, atol=1e-4)
    with pytest.raises(EmulatorRace) as e:
        broken().launch("tree", 2, 256, [x, y], policy=policy, seed=seed)
    finding = e.value.report.findings[0]
    assert (
        {p.line for p in finding.places} == {line_of(SOURCE, "// sum")}
        and "`s` + 0x" in finding.message
        and finding.places[0].file == "memory.cu"
    )


@pytest.mark.parametrize("policy,seed", SCHEDULES)
def test_lanes_of_a_warp_need_syncwarp(module, policy, seed):
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    module.launch("reverse_warp", 1, 32, [x, y], policy=policy, seed=seed)
    np.testing.assert_array_equal(y, x[::-1])
    with pytest.raises(EmulatorRace) as e:
        broken().launch("reverse_warp", 1, 32, [x, y], policy=policy, seed=seed)
    assert "read-after-write" in rules(e) or "write-after-read" in rules(e)


def test_single_bytes_are_told_apart(module):
    y = np.zeros(64, np.uint8)
    module.launch("bytes", 1, 64, [y])
    assert y.tolist() == list(range(63, -1, -1))


def test_reading_what_nobody_wrote(module):
    with pytest.raises(EmulatorRace) as e:
        module.launch("uninitialised", 1, 32, [np.zeros(32, np.float32)])
    finding = e.value.report.findings[0]
    assert (
        finding.rule == "uninitialized-read"
        and "`s` + 0x1c" in finding.message
        and finding.places[0].line == line_of(SOURCE, "// one was never")
    )


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 70), shift=st.integers(-40, 40))
def test_global_bounds_are_exact(module, n, shift):
    x, y = np.arange(n, dtype=np.float32), np.zeros(32, np.float32)
    report = module.launch("global_oob", 1, 32, [x, y, shift], raises=False)
    if 0 <= shift and shift + 32 <= n:
        assert report.clean and (y == x[shift : shift + 32]).all()
    else:
        assert report.status == "out_of_bounds"
        message = report.findings[0].message
        assert (
            "argument 1 (float32 " + str(n) + ")" in message
            and f"memory.cu:{line_of(SOURCE, 'void global_oob')}" in message
        )
        assert ("before the start" if shift < 0 else "past the end") in message


def test_bounds_without_instrumentation_stop_at_the_guard_page():
    module = compiled("memory", SOURCE, *ENTRIES, BUG=0, instrument=False)
    x, y = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    for shift in (64, 1000, 2000, -1024):
        with pytest.raises(EmulatorOutOfBounds, match="argument 1|no array") as e:
            module.launch("global_oob", 1, 32, [x, y, shift])
        assert e.value.report.findings[0].places[0].line == line_of(SOURCE, "void global_oob")
    with pytest.raises(EmulatorOutOfBounds, match="null pointer"):
        module.launch("global_oob", 1, 32, [None, y, 0])


def test_shared_bounds(module):
    y = np.zeros(32, np.float32)
    assert module.launch("shared_oob", 1, 32, [y, 0]).clean
    with pytest.raises(EmulatorOutOfBounds, match="element 32 of an array of type") as e:
        module.launch("shared_oob", 1, 32, [y, 1])
    assert e.value.report.findings[0].places[0].line == line_of(SOURCE, "// beyond a")


def test_vector_access_is_watched_at_its_call(module):
    x, y = np.arange(132, dtype=np.float32), np.zeros(128, np.float32)
    module.launch("vectors", 1, 32, [x, y, 4])
    assert (y == x[4:]).all()
    with pytest.raises(EmulatorOutOfBounds, match="16 bytes") as e:
        module.launch("vectors", 1, 32, [x, y, 8])
    assert e.value.report.findings[0].places[0].line == line_of(SOURCE, "// vector access")
    with pytest.raises(EmulatorMisuse, match="not a multiple of 16"):
        module.launch("misaligned", 1, 1, [x, y])


def test_struct_copies(module):
    x, y = np.arange(1024, dtype=np.int32), np.zeros(1024, np.int32)
    module.launch("copies", 1, 64, [x, y])
    np.testing.assert_array_equal(y.reshape(64, 16), x.reshape(64, 16)[::-1])
    with pytest.raises(EmulatorRace):
        broken().launch("copies", 1, 64, [x, y])


@pytest.mark.parametrize("policy,seed", SCHEDULES)
def test_hand_over_between_blocks(module, policy, seed):
    def arguments():
        return [np.zeros(32, np.float32), np.zeros(1, np.uint32), np.zeros(32, np.float32)]

    for good in (module, broken(3)):
        a = arguments()
        if good is module:
            good.launch("hand_over", 2, 32, a, policy=policy, seed=seed)
            np.testing.assert_array_equal(a[2], np.arange(1, 33))
    # With fences the release side is right too.
    a = arguments()
    assert broken(3).launch("hand_over", 2, 32, a, policy=policy, seed=seed).clean
    for bug in (1, 2):
        with pytest.raises(EmulatorRace) as e:
            broken(bug).launch("hand_over", 2, 32, arguments(), policy=policy, seed=seed)
        lines = {p.line for f in e.value.report.findings for p in f.places}
        assert {line_of(SOURCE, "// produce"), line_of(SOURCE, "// consume")} <= lines
        assert "store_release" in str(e.value)


@pytest.mark.parametrize("policy,seed", SCHEDULES)
def test_last_block_adds_the_parts(module, policy, seed):
    out = np.zeros(1, np.float32)
    module.launch("counted", 6, 32, [np.zeros(6, np.float32), np.zeros(1, np.uint32), out], policy=policy, seed=seed)
    assert out[0] == 21
    with pytest.raises(EmulatorRace) as e:  # without the acquire
        broken().launch(
            "counted", 6, 32, [np.zeros(6, np.float32), np.zeros(1, np.uint32), out], policy=policy, seed=seed
        )
    assert line_of(SOURCE, "// add") in {p.line for p in e.value.report.findings[0].places}


def test_atomics_count_and_plain_updates_get_lost(module):
    c, lost = np.zeros(1, np.int32), np.zeros(1, np.int32)
    report = module.launch("counter", 4, 64, [c, lost], policy="random", seed=3, raises=False)
    assert c[0] == 256 and report.status == "race"
    assert {p.line for f in report.findings for p in f.places} <= {
        line_of(SOURCE, "// not atomic"),
        line_of(SOURCE, "*lost = v + 1"),
    }
    lost[:] = 0
    module.launch("counter", 4, 64, [c, lost], policy="random", seed=3, checks=False)
    assert lost[0] < 256  # the schedule shows the damage as well
    with pytest.raises(EmulatorRace) as e:  # inside one block a flag between blocks is no help
        module.launch("mixed", 1, 64, [c])
    assert "__syncthreads" in str(e.value) and "store_release" not in str(e.value)


@pytest.mark.parametrize("policy", ["friendly", "random", "pct", "timed"])
def test_spinning_on_volatile_ends(module, policy):
    y = np.zeros(64, np.int32)
    report = module.launch("spin", 1, 64, [y, 40], policy=policy, checks=False)
    assert y.sum() == 64 and report.seconds < 5


def test_spinning_for_ever_is_found(module):
    with pytest.raises(EmulatorDeadlock, match="nothing changes"):
        module.launch("spin", 1, 64, [np.zeros(64, np.int32), 99])
    with pytest.raises(EmulatorDeadlock, match="nothing changes") as e:
        module.launch("flag_wait", 2, 32, [np.zeros(1, np.uint32)])
    assert f"memory.cu:{line_of(SOURCE, 'void flag_wait')}" in str(e.value)


def test_blocks_that_wait_for_each_other_must_be_resident(module):
    assert module.launch("last_sets", 6, 32, [np.zeros(1, np.uint32)], sms=6).clean
    with pytest.raises(EmulatorDeadlock, match="2 blocks have not started: 4 are resident"):
        module.launch("last_sets", 6, 32, [np.zeros(1, np.uint32)], sms=4)


def test_a_loop_that_never_waits_hits_the_time_limit():
    source = '#include "hopper.cuh"\nextern "C" __global__ void forever(int* y) {\n  volatile int* p = y;\n  while (*p != 1) {}  // here\n}\n'
    module = compiled("forever", source, "forever", instrument=False)
    with pytest.raises(EmulatorTimeout, match="loop that never waits") as e:
        module.launch("forever", 1, 1, [np.zeros(1, np.int32)], timeout=0.3)
    assert e.value.report.findings[0].places[0].line == 4 and e.value.report.seconds < 5


@pytest.mark.parametrize("policy,seed", SCHEDULES)
def test_distributed_shared_memory(module, policy, seed):
    y = np.zeros(128, np.float32)
    module.launch("peer", 4, 32, [y], cluster=2, policy=policy, seed=seed)
    np.testing.assert_array_equal(y.reshape(4, 32), np.arange(128).reshape(4, 32)[[1, 0, 3, 2]])
    with pytest.raises(EmulatorRace) as e:
        broken(1).launch("peer", 4, 32, [y], cluster=2, policy=policy, seed=seed)
    assert line_of(SOURCE, "// the peer's") in {p.line for f in e.value.report.findings for p in f.places}


def test_a_block_that_leaves_while_its_memory_is_used():
    seen = set()
    for seed in range(20):
        report = broken(2).launch(
            "peer", 2, 32, [np.zeros(64, np.float32)], cluster=2, policy="pct", seed=seed, raises=False
        )
        seen |= {f.rule for f in report.findings}
    assert "block-has-exited" in seen
