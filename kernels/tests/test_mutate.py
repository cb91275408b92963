"""The mutation bench: its mutants are programs broken in one place, and a sample of them is reported under every schedule."""

import re

import pytest

from kernels.mutate import bench
from kernels.mutate.operators import OPERATORS, mutants
from kernels.mutate.syntax import blocks, code_of, flatten
from kernels.mutate.table import CAUGHT, bugs, equivalent, share, table
from kernels.sources import CUDA_DIR

EVERY = 61  # so that the sample takes half a minute, and meets every operator and most sources
TEXT = """#include "hopper.cuh"
HOPPER_FN void f(mbarrier* full, int parity, int n) {
  // mbarrier_wait(in a comment);
  for (int k = 0; k < n; ++k)
    if (k > 0 && parity) mbarrier_wait(&full[k], parity);
  if (BUGGY(no_full_wait)) mbarrier_arrive(full);
  auto release = [&](int s) { mbarrier_arrive(full); };
  fence_proxy_async();
  __syncthreads();
}
"""


def test_statements_are_those_of_every_block():
    code = code_of(TEXT)
    assert len(code) == len(TEXT) and "comment" not in code and "no_full_wait" not in code
    said = [[re.sub(r"\s+", " ", code[s.start : s.end]) for s in block] for block in blocks(code)]
    assert ["mbarrier_arrive(full);"] in said and ["mbarrier_wait(&full[k], parity);"] in said
    assert said[-1][-2:] == ["fence_proxy_async();", "__syncthreads();"] or any(
        b[-2:] == ["fence_proxy_async();", "__syncthreads();"] for b in said
    )


def test_a_mutant_differs_from_its_source_in_one_place_and_has_a_name_of_its_own():
    found = mutants("f.cu", TEXT)
    keys = [m.key for m in found]
    assert len(set(keys)) == len(keys) and all(m.text != TEXT for m in found)
    made = {m.operator: m for m in found}
    assert {"delete", "swap", "off by one", "parity", "predicate", "scope"} <= set(made)
    changed = {re.sub(r"\s+", " ", m.text) for m in found}
    assert any("if (parity) mbarrier_wait" in t for t in changed) and any(
        "mbarrier_wait(&full[k], (parity) ^ 1)" in t for t in changed
    )
    assert any("__syncthreads(); fence_proxy_async(); }" in t for t in changed)


def test_every_source_has_mutants_and_every_listed_equivalent_is_one_of_them():
    sources = {p.name for p in CUDA_DIR.glob("*.cu")}
    assert sources <= set(bench.INPUTS)
    found = bench.all_mutants()
    assert {m.operator for m in found} == set(OPERATORS) and {m.file for m in found} == set(bench.INPUTS)
    stale = set(equivalent()) - {m.key for m in found}
    assert not stale, f"equivalent.yml lists mutants that no source has any more: look at {sorted(stale)[:3]} again."


def test_a_source_with_its_headers_written_out_keeps_files_and_lines():
    text = flatten(CUDA_DIR / "gemm_store.cu", {"gemm.cuh": "// mutated\nint x;\n"})
    assert '#line 1 "gemm.cuh"\n// mutated\nint x;' in text and text.count("write_chunk(const bf16*") == 1
    assert (
        re.search(r'#line \d+ "gemm_store.cu"', text)
        and '#include "hopper.cuh"' not in text.split("mutated")[0].split("tile_store")[0]
    )


def test_verdicts():
    m = mutants("f.cu", TEXT)[0]
    runs = lambda *v: bench.Result(m, runs={("rr", i): r for i, r in enumerate(v)})
    assert [runs(*v).verdict for v in (["a-rule", "b"], ["a-rule", "wrong"], ["wrong"] * 2, ["a-rule", "right"], ["right"] * 2)] == [
        "reported in every run", "reported or wrong in every run", "wrong result only", "in some runs", "survived"]  # fmt: skip
    assert share([runs("wrong"), runs("right")]) == (1, 2) and "50.00 %" in table([runs("wrong"), runs("right")])


@pytest.mark.emulator
def test_no_run_lets_a_sampled_bug_pass():
    sample = [m for m in bench.all_mutants()[::EVERY] if m.key not in equivalent()]
    assert {m.operator for m in sample} >= {"delete", "swap", "off by one", "predicate", "scope", "count"}
    results = bench.run_all(sample, seeds=1)
    passed = [f"{r.mutant}: {r.runs}" for r in bugs(results) if r.verdict not in CAUGHT]
    assert not passed, "\n".join(passed)
    assert sum(r.reported > 0 for r in results) > len(results) / 2


@pytest.mark.emulator
@pytest.mark.parametrize("file", sorted(bench.INPUTS))
def test_the_kernels_themselves_are_clean_and_right_on_the_bench_s_inputs(file):
    for given in bench.INPUTS[file]:
        for policy in bench.POLICIES[::2]:
            assert bench.run_one(None, given, policy, 0) == ("right", ""), (given, policy)
