"""Claims of measurement: told from denials, plans, suppositions and quotations, and held against what the notebook shows."""

from __future__ import annotations

import hashlib
import re
import time

import pytest

from autograder.grading.evidence import claims_in, declares_static_review, find_claims
from autograder.submission.read.match import Reading
from autograder.submission.read.notebook import NbCell
from kernels.receipt import Receipt

SURE = [
    "I ran both versions on an H100 and measured that the unguarded one took 1.52 times as long, 3.1 ms against 2.04 ms.",
    "We measured a 1.43x slowdown.", "My benchmark showed 1.5x.", "I timed it: 3.1 ms with the load and 2.0 ms without.", "I profiled the kernel and got 3.9 TB/s.",
    "On my 4090 it took 3.2 ms.",
    "我在自己的 4090 上实测，去掉守卫以后耗时从 2.0 ms 变成 3.2 ms，慢了 60%。", "实测结果：2.0 ms 变成 3.2 ms。", "实测慢了 43%。", "经测试，耗时从 2.0 ms 变成 3.1 ms。", "Measured: 3.1 ms with the load.", "Profiling showed 3.1 ms.", "我跑了两个版本，无守卫的多用 1.1 ms。", "我用 Nsight 测了带宽，是 3.9 TB/s。",
]  # fmt: skip
CLAIM = [
    "I ran the cell and all asserts pass.",
    "我跑了一遍，所有断言都通过了。",
    "运行结果是 6.0。",
    "I tested it with beta = 0 and it returned 6.",
]
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


@pytest.mark.parametrize(
    ("text", "static"),
    [
        ("仅静态审查", True),
        ("Static review only.", True),
        ("没有运行", True),
        ("I have not run it.", True),
        ("我跑了", False),
        ("I ran it.", False),
    ],
)
def test_static_review(text, static):
    assert declares_static_review(text) == static


RECEIPT = Receipt(
    "gemm_tiled",
    hashlib.sha256(b"a source").hexdigest(),
    "gpu",
    "NVIDIA H100 80GB HBM3",
    "12.8",
    "2026-11-29T08:00:00Z",
    "kernels.load('gemm_tiled')(a, b)",
    {"time": {"value": 3.1, "unit": "ms"}},
).to_dict()


def reading(text="", **cell):
    book = Reading(None, [NbCell("code", "f(1)", 0, **cell)])
    book.answers["q2"] = text
    return book


def found(text, **cell):
    return [(f.code, f.severity) for f in find_claims(reading(text, **cell))]


@pytest.mark.parametrize("text", SURE)
def test_nothing_to_show_is_a_veto(text):
    assert found(text) == [("claimed_not_run", "veto")]


@pytest.mark.parametrize(
    "text",
    [
        "I ran this in the CPU emulator, because I have no GPU.",
        "When I ran it, my own boundary case passed as well.",
        "我跑了一遍，自己的边界输入也通过了。",
        "I tested my function on a few inputs, and they came out right.",
    ],
)
def test_who_only_says_that_he_ran_it_may_have_cleared_the_outputs(text):
    """nbstripout, jupytext and `nbconvert --clear-output` leave neither outputs nor counts of an honest run."""
    assert found(text) == [("claim_without_output", "review")]


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
    receipt = RECEIPT
    assert found(text, receipts=[receipt]) == []
    assert found(text, receipts=[receipt | {"backend": "emulator"}]) == [("claim_without_receipt", "review")]
    assert found(text, outputs=["3.1 ms"]) == [("claim_without_receipt", "review")]
    for forged in (
        {"backend": "gpu", "figure": {"time": {"value": 3.1, "unit": "ms"}}},
        receipt | {"source_sha256": "x"},
        receipt | {"time": "today"},
        receipt | {"backend": "tpu"},
    ):
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


TOLD = [
    "The profiler reports 212 registers and no spills.", "Nsight Compute shows 87 stalled warps.", "compute-sanitizer reports no errors.", "ncu counted 4096 bank conflicts.",
    "profiler 报告 212 个寄存器，没有溢出。", "性能分析器显示 87 个 warp 在等待。", "compute-sanitizer 输出 0 个错误。",
]  # fmt: skip
ON_A_GPU = [
    "Tested on an A100: all 24 rows agree.", "Verified on our school's H100, and every row agrees.", "It was tested on an RTX 4090 and no row differs.", "I ran it on an H100 and all rows agree.",
    "在 A100 上测试过，24 行全部一致。", "A100 上验证：全部一致。", "我在 H100 上跑了，各行都对。", "在学校的 4090 显卡上跑通了。",
]  # fmt: skip
OWN = ["I ran it on an H100 and all rows agree.", "我在 H100 上跑了，各行都对。"]
NOT_TOLD = [
    "When the profiler reports 0 spills, the tile fits.", "A profiler would report 212 registers.", "The lesson's profiler reports 212 registers.", "The profiler shows where the time goes.", "Nsight always shows all warps.",
    "On an H100 the kernel needs 168 registers.", "This was not tested on a GPU.", "I have no A100 and tested nothing on a GPU.", "It must be tested on an H100.", "The course tested it on an H200: all rows agree.",
    "当 profiler 报告 255 个寄存器时，要减小 tile。", "ptxas 会报告 255 个寄存器。", "没有用 profiler 看到 212 个寄存器。", "性能分析器能显示 32 个计数器。", "这段代码没有在 A100 上测试过。", "课程在 H200 上测试过，24 行全部一致。",
    "应当在 A100 上测试。", "在 H100 上每个线程有 168 个寄存器。", "如果在 A100 上测试过，就知道了。",
]  # fmt: skip


@pytest.mark.parametrize("text", [*TOLD, *ON_A_GPU])
def test_what_a_tool_or_a_card_is_said_to_have_given_reaches_a_person(text):
    assert found(text) in ([("claim_without_output", "review")], [("claimed_not_run", "veto")])
    assert text in OWN or found(text) == [("claim_without_output", "review")], "as sure as it was, and no surer"
    assert found(text, executed=4) == [("claim_without_output", "review")]
    assert [severity for _, severity in found(text, outputs=["1.5"])] == ["review"]


@pytest.mark.parametrize("text", TOLD)
def test_what_a_tool_reports_may_stand_in_the_outputs_or_in_the_lesson(text):
    said = "212 registers, 0 spills, 87 warps, 0 errors, 4096 conflicts"
    if any(ch.isdigit() for ch in text):
        assert found(text, outputs=[said]) == []
        book = reading(text)
        book.released = type("Book", (), {"text": said})
        assert find_claims(book) == [], "a quotation that forgot its source"
        book.answers["q2"] = "I ran it: " + text
        assert find_claims(book) != []


@pytest.mark.parametrize("text", ON_A_GPU)
def test_a_run_on_a_card_is_shown_by_its_receipt(text):
    receipt = RECEIPT
    assert found(text, receipts=[receipt]) == []
    assert found(text, receipts=[receipt | {"backend": "emulator"}], outputs=["24 of 24 rows agree"]) == [
        ("claim_without_receipt", "review")
    ]


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_tools_and_cards_do_in_general_is_no_claim(text):
    assert not claims_in(text), claims_in(text)
    assert found(text) == found(text, outputs=["1.5"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "I measured 3.1 ms, and the lesson's profiler reports 3 spills.",
        "我实测 3.1 ms，课文里 profiler 报告 3 次溢出。",
    ],
)
def test_what_the_lesson_says_of_a_tool_hides_no_claim_beside_it(text):
    assert found(text) == [("claimed_not_run", "veto")]


def test_a_tool_whose_output_stands_there_may_be_summed_up_in_words():
    assert (
        found(
            "compute-sanitizer reports no errors.",
            outputs=["========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors"],
        )
        == []
    )


MEASURED = "guarded 2.04 ms, unguarded 3.1 ms, 3.9 TB/s"


@pytest.mark.parametrize(
    "text",
    [
        "我跑了一遍，耗时从 4.1 毫秒降到 3.1 毫秒。", "我实测 3.1 ms 和 9.9 ms。", "我测得 3.1 ms，带宽 7.7 TB/s。", "我跑了两次，9.7 到 3.1 毫秒。",
        "When I ran my fill the time dropped from 4.1 ms to 3.1 ms.", "I timed both: 3.1 ms and 9.9 ms.", "I measured 3.1 ms and 7.7 TB/s.", "I measured 9.7 to 3.1 ms.",
    ],
)  # fmt: skip
def test_one_figure_in_the_outputs_does_not_cover_the_others(text):
    assert found(text, outputs=[MEASURED]) == [("figure_not_in_outputs", "review")]


@pytest.mark.parametrize(
    "text",
    [
        "I measured 2.0 ms and 3.1 ms, 1.1 ms more.", "I measured 2.04 ms, which is 2040 us.", "I measured 3.1 ms, 1.52 times as long, 52 % more.", "I expected 2.7 ms but measured 3.1 ms.",
        "I ran it: 3.9 TB/s of the peak of 4.8 TB/s.", "I measured 3.1 ms, where the lesson gives 2.7 ms.", "I measured 3.1 ms, slower than the lesson's 2.7 ms.", "I measured 2.04 to 3.1 ms.",
        "我测得 2.04 ms 和 3.1 ms，多用 1.1 ms。", "我测得 2.04 毫秒，即 2040 微秒。", "我实测 3.1 毫秒，是 2.04 毫秒的 1.52 倍，慢 52%。", "我预计 2.7 ms，实测 3.1 ms。", "我测得 3.9 TB/s，是峰值 4.8 TB/s 的 81%。",
        "我测得 3.9 TB/s，占显存峰值 4.8 TB/s 的 81%。", "我实测 3.1 毫秒，课文里是 2.7 毫秒。", "我测得 3.1 ms，比课程的 2.7 ms 慢。", "我跑了，从 3.1 毫秒降到 2.04 毫秒。",
    ],
)  # fmt: skip
def test_what_is_worked_out_expected_or_quoted_beside_a_measurement_is_not_asked_for(text):
    assert found(text, outputs=[MEASURED]) == []


def test_the_lessons_figure_beside_ones_own_in_a_sentence_that_names_the_lesson():
    book = Reading(None, [NbCell("code", "f(1)", 0, outputs=[MEASURED])])
    book.released = type("Book", (), {"text": "2.7 ms on an H200"})
    for text in ("我按课程的方法测得 3.1 ms，不是 2.7 ms。", "I ran the lesson's cell and got 3.1 ms, not 2.7 ms."):
        book.answers["q2"] = text
        assert find_claims(book) == []


@pytest.mark.parametrize(
    "number",
    ["1e999", "1e-999", "9" * 500, "0." + "1" * 400, "1e+30", "0", "1,,,2", "3.1E0", "1e" + "9" * 300, "0" * 400 + "1"],
)
def test_any_number_can_be_looked_up(number):
    for text in (f"I measured {number} ms and {number} to 2 ms.", f"The profiler reports {number} registers."):
        assert isinstance(found(text, outputs=[f"{number} ms", "1"]), list)


def test_many_claims_beside_long_outputs_are_looked_up_fast():
    text = "I measured 3.1 ms and 2.7 ms. " * 500
    began = time.process_time()
    found(text, outputs=[" ".join(f"{n}.5 ms" for n in range(20_000))])
    assert time.process_time() - began < 3


def test_code_in_a_block_is_not_prose_but_what_is_written_there_is():
    assert (
        found("```python\nt = timeit(run, number=20)  # seconds\nmeasured_ms = 3.1\nassert measured_ms < 4\n```") == []
    )
    for text in (
        "```\nI measured 3.1 ms.\n```",
        "~~~\n# I measured 3.1 ms\n~~~",
        "```python\nf(1)  # I measured 3.1 ms\n```",
    ):
        assert found(text) == [("claim_without_output", "review")], "never a veto: it may be a cell's own comment"


@pytest.mark.parametrize(
    "text",
    [
        "我實測 3.1 毫秒。", "Ｉ ｍｅａｓｕｒｅｄ ３.１ ｍｓ.", "I mea\u00adsured 3.1 ms on my H1\u200b00.", "I **mea**sured 3.1 ms.", "I measured $3.1\\,\\text{ms}$.", "I&#32;measured <b>3.1</b>&nbsp;ms.", "I\u2019ve measured 3.1 ms.",
        "I measured\n3.1 ms, and that is a good deal more than what the page says of the other one.", "What I did: I measured 3.1 ms.",
    ],
)  # fmt: skip
def test_a_claim_is_read_as_it_shows_on_the_page(text):
    assert found(text) == [("claimed_not_run", "veto")]
    (finding,) = find_claims(reading(f"The guard matters.\n\n{text}"))
    quote = re.search(r': "(.*)"$', finding.message.en, re.S)[1]
    assert quote in text, "the quote is the student's own text"


@pytest.mark.parametrize(
    "text",
    [
        "I measured 3.1 ms, is that not telling?",
        "I measured 3.1 ms, didn't I?",
        "Did you know that I measured 3.1 ms?",
        "我测得 3.1 ms，是不是很慢？",
        "我实测 3.1 毫秒，对吧？",
    ],
)
def test_a_question_behind_a_statement_hides_no_claim(text):
    assert found(text) == [("claim_without_output", "review")]


@pytest.mark.parametrize(
    "text",
    [
        "Is it slow that it takes 3.1 ms?",
        "Have I measured it, or 3.1 ms?",
        "How would one know, when nothing was measured?",
        "实测会是 3.1 ms 吗？",
        "为什么我测得的会是 3.1 ms？",
    ],
)
def test_a_question_is_no_claim(text):
    assert found(text) == []
