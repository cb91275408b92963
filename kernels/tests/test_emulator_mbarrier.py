"""The mbarrier against a model of a few lines: phases, pending arrivals, transaction bytes, parity."""

from dataclasses import dataclass

import numpy as np
import pytest
from emulator_sources import compiled, line_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import TensorMap
from kernels.emulator import EmulatorDeadlock, EmulatorMisuse, EmulatorRace

# A small machine that runs a program of barrier operations by one thread and notes, after each, for which parity a wait passes.
SOURCE = """#include "hopper.cuh"
struct Smem { float box[8 * 32]; mbarrier bar; };
enum { ARRIVE, EXPECT, ARRIVE_EXPECT, LOAD };
extern "C" __global__ void machine(const __grid_constant__ TensorMap map, const int* program, int length, int count, int* passes) {
  DYNAMIC_SHARED(Smem, s);
  mbarrier_init(&s.bar, count, "BAR");
  fence_mbarrier_init();
  for (int i = 0; i < length; ++i) {
    const int op = program[2 * i], bytes = program[2 * i + 1];
    if (op == ARRIVE) mbarrier_arrive(&s.bar);
    if (op == EXPECT) mbarrier_expect_tx(&s.bar, bytes);
    if (op == ARRIVE_EXPECT) mbarrier_arrive_expect_tx(&s.bar, bytes);
    if (op == LOAD) tma_load_2d(s.box, &map, 0, 0, &s.bar);
    passes[i] = mbarrier_try_wait(&s.bar, 0) | mbarrier_try_wait(&s.bar, 1) << 1;
  }
}
extern "C" __global__ void misuse(int* out) {
  DYNAMIC_SHARED(Smem, s);
  mbarrier_init(&s.bar, 1, "BAR");
  __syncthreads();
#if WHAT == 1
  mbarrier_arrive_expect_tx(&s.bar, 16);         // the one arrival; the phase still waits for bytes
  mbarrier_arrive(&s.bar);                       // too many
#elif WHAT == 2
  mbarrier_expect_tx(&s.bar, 1 << 19);
  mbarrier_expect_tx(&s.bar, 1 << 19);           // beyond 2^20 - 1
#elif WHAT == 3
  mbarrier_arrive((mbarrier*)(s.box + 2));       // never initialised
#elif WHAT == 4
  mbarrier_init((mbarrier*)((char*)s.box + 4), 1);  // not aligned
#elif WHAT == 5
  mbarrier_init((mbarrier*)out, 1);              // not shared
#elif WHAT == 6
  mbarrier_init(&s.bar, 0);
#elif WHAT == 7
  s.bar.state = 0;                               // an ordinary store
#endif
}
extern "C" __global__ void early(int* out) {     // other threads use the barrier without a barrier after its init
  DYNAMIC_SHARED(Smem, s);
  if (threadIdx.x == 0) { mbarrier_init(&s.bar, 64, "BAR"); fence_mbarrier_init(); }
  if (threadIdx.x >= 32) __nanosleep(100);       // so that it is usually late enough
  while (threadIdx.x >= 32 && out[0] == 0) { __nanosleep(100); if (atomicAdd(&out[1], 1) > 100) break; }
  mbarrier_arrive(&s.bar);                       // not ordered
  mbarrier_wait(&s.bar, 0);
}
extern "C" __global__ void stuck(int parity) {
  DYNAMIC_SHARED(Smem, s);
  if (threadIdx.x == 0) mbarrier_init(&s.bar, 2, "BAR", 7);
  __syncthreads();
  if (threadIdx.x == 5) mbarrier_arrive(&s.bar); // the only arrival
  mbarrier_wait(&s.bar, parity);                 // the wait
}
extern "C" __global__ void polls() {             // try_wait in a loop: never ends either
  DYNAMIC_SHARED(Smem, s);
  if (threadIdx.x == 0) mbarrier_init(&s.bar, 2, "BAR", 7);
  __syncthreads();
  while (!mbarrier_try_wait(&s.bar, 0)) {}       // the poll
}
"""
BOX_BYTES = 8 * 32 * 4
SMEM = BOX_BYTES + 8
ARRIVE, EXPECT, ARRIVE_EXPECT, LOAD = range(4)


@dataclass
class Model:
    """PTX ISA, mbarrier: a phase completes when pending arrivals and the transaction count are both zero."""

    count: int
    pending: int = 0
    bytes: int = 0
    phase: int = 0

    def __post_init__(self):
        self.pending = self.count

    def step(self, op: int, amount: int) -> None:
        self.bytes += {ARRIVE: 0, EXPECT: amount, ARRIVE_EXPECT: amount, LOAD: -BOX_BYTES}[op]
        self.pending -= op in (ARRIVE, ARRIVE_EXPECT)
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.count

    @property
    def passes(self) -> int:
        """Bit p: a wait for parity p passes."""
        return 1 if self.phase % 2 else 2


@pytest.fixture(scope="module")
def module():
    return compiled("mbarrier", SOURCE, "machine", "early", "stuck", "polls")


@st.composite
def programs(draw):
    count = draw(st.integers(1, 3))
    model, program = Model(count), []
    for _ in range(draw(st.integers(1, 12))):
        ops = [EXPECT, LOAD] + ([ARRIVE, ARRIVE_EXPECT] * 2 if model.pending else [])
        op = draw(st.sampled_from(ops))
        amount = (
            draw(st.sampled_from([BOX_BYTES, BOX_BYTES // 2, 2 * BOX_BYTES])) if op in (EXPECT, ARRIVE_EXPECT) else 0
        )
        model.step(op, amount)
        program.append((op, amount))
    return count, program


@settings(max_examples=40, deadline=None)
@given(programs())
def test_phases_follow_the_model(module, case):
    count, program = case
    source = np.ones((8, 32), np.float32)
    passes = np.full(len(program), -1, np.int32)
    # "friendly": a load has landed before the thread that issued it goes on. Unwaited loads are no matter here.
    module.launch(
        "machine", 1, 1, [TensorMap(source, (8, 32), swizzle=0), np.array(program, np.int32), len(program), count, passes],
        smem=SMEM, policy="friendly", checks=False,
    )  # fmt: skip
    model, expected = Model(count), []
    for op, amount in program:
        model.step(op, amount)
        expected.append(model.passes)
    assert passes.tolist() == expected


MISUSES = {
    1: ("mbarrier-overflow", "// too many"), 2: ("mbarrier-bytes", "// beyond"), 3: ("mbarrier-not-initialised", "// never initialised"),
    4: ("mbarrier", "// not aligned"), 5: ("mbarrier", "// not shared"), 6: ("mbarrier", "mbarrier_init(&s.bar, 0)"), 7: ("write-over-mbarrier", "// an ordinary"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISUSES)
def test_misuse_is_named_with_its_line(what):
    rule, marker = MISUSES[what]
    module = compiled("mbarrier", SOURCE, "misuse", WHAT=what)
    with pytest.raises(EmulatorMisuse) as e:
        module.launch("misuse", 1, 1, [np.zeros(4, np.int32)], smem=SMEM)
    finding = e.value.report.findings[-1]
    assert finding.rule == rule
    assert finding.places[0].line == line_of(SOURCE, marker)


@pytest.mark.parametrize("seed", range(5))
def test_use_that_nothing_orders_after_init(module, seed):
    with pytest.raises((EmulatorRace, EmulatorMisuse)) as e:
        module.launch("early", 1, 64, [np.zeros(2, np.int32)], smem=SMEM, seed=seed, policy="pct")
    assert {f.rule for f in e.value.report.findings} & {"mbarrier-init-not-ordered", "mbarrier-not-initialised"}


def test_deadlock_says_who_waits_for_what(module):
    with pytest.raises(EmulatorDeadlock) as e:
        module.launch("stuck", 1, 64, [0], smem=SMEM)
    text = str(e.value)
    assert f"warps 0-1 lanes 0-31 waits for BAR[7], parity 0, at mbarrier.cu:{line_of(SOURCE, '// the wait')}" in text
    assert "1 of 2 arrivals missing" in text
    assert f"last arrival: block (0,0) warp 0 lane 5 at mbarrier.cu:{line_of(SOURCE, '// the only arrival')}" in text
    # A fresh barrier lets parity 1 pass at once.
    assert module.launch("stuck", 1, 64, [1], smem=SMEM).clean


def test_polling_for_ever_is_a_deadlock_too(module):
    with pytest.raises(EmulatorDeadlock, match="poll"):
        module.launch("polls", 1, 32, [], smem=SMEM)
