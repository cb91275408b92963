"""Claims of measurement: told from denials, plans, suppositions and quotations, and held against what the notebook shows."""

from __future__ import annotations

import pytest

from autograder.grading.evidence import claims_in, declares_static_review, find_claims
from autograder.grading.read.match import Reading
from autograder.grading.read.notebook import NbCell
from kernels.receipt import Receipt

SURE = [
    "I ran both versions on an H100 and measured that the unguarded one took 1.52 times as long, 3.1 ms against 2.04 ms.",
    "We measured a 1.43x slowdown.", "My benchmark showed 1.5x.", "I timed it: 3.1 ms with the load and 2.0 ms without.", "I profiled the kernel and got 3.9 TB/s.",
    "On my 4090 it took 3.2 ms.",
    "我在自己的 4090 上实测，去掉守卫以后耗时从 2.0 ms 变成 3.2 ms，慢了 60%。", "实测结果：2.0 ms 变成 3.2 ms。", "实测慢了 43%。", "经测试，耗时从 2.0 ms 变成 3.1 ms。", "Measured: 3.1 ms with the load.", "Profiling showed 3.1 ms.", "我跑了两个版本，无守卫的多用 1.1 ms。", "我用 Nsight 测了带宽，是 3.9 TB/s。",
]  # fmt: skip
CLAIM = ["I ran the cell and all asserts pass.", "我跑了一遍，所有断言都通过了。", "运行结果是 6.0。", "I tested it with beta = 0 and it returned 6."]
NONE = [
    "仅静态审查，没有运行环境，以下是读代码得出的推断。", "Static review only; nothing was run.", "I did not run this, but the lesson measured 1.43x on an H200.", "本课在 H200 上实测 1.43 倍。",
    "根据图 7-3 的实测，慢 30%。", "如果实测，应该会慢 30%。", "It would be about 1.5x slower if measured.", "The page's measurement on an H200 was 1.43x.", "没有实测，理论上慢 1.5 倍。",
    "I expect it to be 1.5 times slower.", "需要实测才能确定哪个快。", "最好实测一下。", "Whether to fuse must be measured.", "课程给出的 H200 实测数据是 1.43 倍。", "measured on an H200 by the lesson: 1.43x the time",
    "运行时不会读 c。", "kernel 运行后报 cudaErrorIllegalAddress。", "When beta is 0 the branch runs and c is never read.", "把未运行的结果说成实测是一票否决。", "并非实测，只是推导。", "I could not run it: no GPU here.",
    "在实际运行中会报错。", "这个数据来自课程实测（1.43 倍）。", "The run would print 6.0.", "If I ran it on an H100 I would see 1.5x.", "课文里实测的数据是 5.6e-3。", "The lesson says it measured 1.43 times; I take that figure from there.",
    "beta 为 0 时要多读 M*N*4 字节，带宽受限时慢 1.5 倍。", "The ideal ratio is 1.5x: three transfers instead of two.", "Have I measured it?", "我打算用 H100 实测。", "We should measure it on an H200.", "没有 GPU，无法实测。",
    "The lesson's measured 1.43x is close to the ideal 1.5x.", "Loading C needlessly costs 30 % of the bandwidth.", "",
]  # fmt: skip


@pytest.mark.parametrize("text", SURE)
def test_sure_claims(text):
    assert any(c.sure and c.figure for c in claims_in(text)), claims_in(text)


@pytest.mark.parametrize("text", CLAIM)
def test_claims_of_a_run_without_a_figure(text):
    assert claims_in(text) and not any(c.figure for c in claims_in(text))


@pytest.mark.parametrize("text", NONE)
def test_no_claims(text):
    assert not claims_in(text), claims_in(text)


@pytest.mark.parametrize(("text", "static"), [("仅静态审查", True), ("Static review only.", True), ("没有运行", True), ("I have not run it.", True), ("我跑了", False), ("I ran it.", False)])
def test_static_review(text, static):
    assert declares_static_review(text) == static


def reading(text="", **cell):
    book = Reading(None, [NbCell("code", "f(1)", 0, **cell)])
    book.answers["q2"] = text
    return book


def found(text, **cell):
    return [(f.code, f.severity) for f in find_claims(reading(text, **cell))]


@pytest.mark.parametrize("text", SURE)
def test_nothing_to_show_is_a_veto(text):
    assert found(text) == [("claimed_not_run", "veto")]


@pytest.mark.parametrize("text", NONE)
def test_no_claim_no_finding(text):
    assert found(text) == []


def test_short_of_sure_a_person_looks():
    assert found("I ran the cell and all asserts pass.") == [("claim_without_output", "review")]
    assert found("I ran the cell and all asserts pass.", executed=4) == []
    assert found("I measured 3.1 ms.", executed=4) == [("claim_without_output", "review")]
    assert found("Static review only. I measured 3.1 ms.") == [("claim_without_output", "review")]


def test_figures_are_looked_up_in_the_outputs():
    assert found("I measured 3.1 ms.", outputs=["time: 3.08 ms"]) == []
    assert found("I measured 3.1 ms.", outputs=["time: 5.2 ms"]) == [("figure_not_in_outputs", "review")]
    assert found("我实测慢了 1,024 倍。", outputs=["1024"]) == []


def test_a_gpu_figure_needs_a_gpus_receipt():
    text = "I ran it on an H100 and measured 3.1 ms."
    receipt = Receipt("gemm", "0" * 64, "gpu", "NVIDIA H100", "12.8", "2026-11-29T08:00:00Z", "gemm(a, b)", {"time": {"value": 3.1, "unit": "ms"}}).to_dict()
    assert found(text, receipts=[receipt]) == []
    assert found(text, receipts=[receipt | {"backend": "emulator"}]) == [("claim_without_receipt", "review")]
    assert found(text, outputs=["3.1 ms"]) == [("claim_without_receipt", "review")]
    for forged in ({"backend": "gpu", "figure": {"time": {"value": 3.1, "unit": "ms"}}}, receipt | {"source_sha256": "x"}, receipt | {"time": "today"}, receipt | {"backend": "tpu"}):
        assert found(text, outputs=["3.1 ms"], receipts=[forged]) == [("claim_without_receipt", "review")]


def test_the_lessons_own_figure_without_its_source_is_for_a_person():
    class Book:
        text = "Measured on an H200: 1.43 times."

    book = reading("实测慢 1.43 倍。")
    book.released = Book
    assert [(f.code, f.severity) for f in find_claims(book)] == [("claim_without_output", "review")]
    book.answers["q2"] = "我实测慢 1.43 倍。"
    assert [f.severity for f in find_claims(book)] == ["veto"]


def test_the_quote_is_the_students_sentence():
    text = "The guard matters. I measured 3.1 ms against 2.0 ms. So it pays."
    (finding,) = find_claims(reading(text))
    assert "I measured 3.1 ms against 2.0 ms." in finding.message.en and finding.where == "q2"


def test_code_blocks_are_not_prose():
    assert not claims_in("```\n# I measured 3.1 ms\n```")
