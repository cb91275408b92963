"""What outputs and receipts are evidence: not those that their cell's code cannot have given, nor those that no loader writes."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from autograder.grading.evidence import find_claims
from autograder.grading.shown import shown_by
from autograder.submission.read.match import Reading
from autograder.submission.read.notebook import NbCell
from kernels.receipt import Receipt, utc_now
from kernels.spec import registry

CLAIM = "I measured 3.11 ms, and 2.04 ms with the guard."
ON_GPU = "I measured 3.11 ms on my H100."
PRINTED = "3.11 ms 2.04 ms"
RECEIPT = Receipt(
    "linear_epilogue",
    hashlib.sha256(b"a source").hexdigest(),
    "gpu",
    "NVIDIA H100 80GB HBM3",
    "12.8",
    "2026-11-29T08:00:00Z",
    "kernels.load('linear_epilogue', backend='gpu')(acc)",
    {"time": {"value": 3.11, "unit": "ms"}},
).to_dict()


def book(*cells, text=CLAIM, released=()):
    """cells: (source, outputs) or (source, outputs, receipts)."""
    lesson = type("Book", (), {"text": "", "by_text": dict.fromkeys(released, 0)})
    made = Reading(
        lesson,
        [
            NbCell("code", source, n, outputs=list(out), receipts=list(*receipts), executed=n + 1)
            for n, (source, out, *receipts) in enumerate(cells)
        ],
    )
    made.answers["q2"] = text
    return made


def found(*cells, **kw):
    return [(f.code, f.severity) for f in find_claims(book(*cells, **kw))]


def why(*cells, **kw):
    (finding,) = find_claims(book(*cells, **kw))
    return finding.message.en


NOTHING = [
    "1 + 1", "pass", "# nothing", "x = 3", '"done"', "print(*[i / 100 for i in range(1000)])", "a = 311\nprint(a / 100, 'ms')", "for i in range(204, 312):\n    print(i / 100)", "from IPython.display import Markdown\nMarkdown('see below')",
    "import random\nprint(random.gauss(3, 1))", "%%markdown\nresults", "%%bash\necho results", "!echo results", "import math\nprint(math.pi)", "print('results')",
]  # fmt: skip


@pytest.mark.parametrize("source", NOTHING)
def test_the_output_of_a_cell_that_calls_nothing_shows_no_time(source):
    assert found((source, [PRINTED])) == [("figure_not_in_outputs", "review")]
    assert "cannot have given" in why((source, [PRINTED])) or "spells out" in why((source, [PRINTED]))


@pytest.mark.parametrize(
    "source",
    [
        'print("3.11 ms 2.04 ms")', 'f(1)\nprint(f"{3.11} ms {2.04} ms")', "t = [3.11, 2.04]\nf(1)\nprint(t)", 'run(1); display("3.11 ms, 2.04 ms")', "!echo 3.11 ms 2.04 ms; nvidia-smi", "%%bash\nnvidia-smi\necho 3.11 ms 2.04 ms",
    ],
)  # fmt: skip
def test_a_number_that_the_code_spells_out_shows_nothing(source):
    assert found((source, [PRINTED])) == [("figure_not_in_outputs", "review")]
    assert "spells out" in why((source, [PRINTED]))


def test_nor_does_one_that_another_cell_gave_to_a_name():
    assert found(("x, y = 3.11, 2.04", []), ("print(x, 'ms', y, 'ms')", [PRINTED])) == [
        ("figure_not_in_outputs", "review")
    ]
    assert found(("def bench(k):\n    k(1)\n    return 3.11, 2.04", []), ("print(bench(kernel), 'ms')", [PRINTED])) == [
        ("figure_not_in_outputs", "review")
    ]


@pytest.mark.parametrize(
    "cells",
    [
        [("f(1)", [PRINTED])],
        [("import time\nt = time.perf_counter()\nf(1)\nprint(time.perf_counter() - t)", [PRINTED])],
        [("%timeit f(1)", ["3.11 ms ± 20 us per loop"]), ("%timeit g(1)", ["2.04 ms"])],
        [("%%time\nf(1)\ng(1)", ["Wall time: 3.11 ms, 2.04 ms"])],
        [("t = {k: bench(k) for k in ('guard', 'none')}", []), ("t", [PRINTED])],
        [
            ("t = bench(kernel)", []),
            ("print(f'{t[0]:.2f} ms')", [PRINTED]),
            ("import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [3.11, 2.04])", ["<BarContainer>"]),
        ],
        [("times = []", []), ("for _ in range(9):\n    times.append(timed(k))", []), ("print(times)", [PRINTED])],
        [("times = {}", []), ("fill(times)", []), ("times", [PRINTED])],
        [("times = {}", []), ("times['a'] = timed(k)", []), ("times", [PRINTED])],
        [("!nvcc bench.cu -o bench && ./bench", [PRINTED])],
        [("%%bash\n./bench", [PRINTED])],
        [("print(bench(128, repeats=100, bandwidth=3.35e12))", [PRINTED])],
        [("def bench(k):\n    return 1e3 * timed(k, 100)", []), ("print(bench(kernel))", [PRINTED])],
        [("this is no Python (", [PRINTED])],
        [("_", [PRINTED])],
        [("%run bench.py", []), ("print(results)", [PRINTED])],
    ],
)
def test_the_output_of_a_cell_that_runs_something_counts(cells):
    assert found(*cells) == []


def test_a_share_may_be_worked_out_in_plain_python():
    assert found(("print(100 * (12 - 8) / 8, '%')", ["50.0 %"]), text="I ran it and got 50 %.") == []


def test_the_lessons_own_cells_spell_nothing_out_for_the_student():
    cell = "print(run(), 'expected 3.11 ms and 2.04 ms')"
    assert found((cell, [PRINTED]), released=[cell]) == []
    assert found((cell, [PRINTED])) == [("figure_not_in_outputs", "review")]


def test_what_is_left_out_never_makes_a_veto():
    """A person sees the output; the grader only does not take it for a measurement."""
    assert {severity for _, severity in found(("1 + 1", [PRINTED]), text="I measured 3.11 ms on my own card.")} == {
        "review"
    }


# -- receipts ----------------------------------------------------------------------------------------------------------------------


def test_a_receipt_as_the_loader_writes_it_counts():
    for device in (
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H200",
        "NVIDIA GH200 480GB",
        "NVIDIA H800",
        "NVIDIA H20",
        "NVIDIA H100 NVL MIG 1g.12gb",
    ):
        for kernel in list(registry())[:5]:
            receipt = RECEIPT | {
                "device": device,
                "kernel": kernel,
                "time": utc_now(),
                "command": f"kernels.load({kernel!r})(acc)",
            }
            assert found(("comparison.receipt", [], [receipt]), text=ON_GPU) == []
    bench = RECEIPT | {"kernel": "linear_epilogue, gemm_tiled", "command": "course bench lesson07"}
    assert found(("show(bench)", [], [bench]), text=ON_GPU) == []


FORGED = [
    ({"kernel": "no_such_kernel", "command": "kernels.load('no_such_kernel')(a)"}, "no kernel named no_such_kernel"), ({"source_sha256": "0" * 64}, "hash"), ({"source_sha256": "deadbeef" * 8}, "hash"), ({"source_sha256": "0123456789abcdef" * 4}, "hash"),
    ({"source_sha256": "ab12" * 16}, "hash"), ({"source_sha256": "xyz"}, "lacks"), ({"backend": "tpu"}, "lacks"), ({"time": "today"}, "lacks"), ({"time": "1999-01-01T00:00:00Z"}, "before the course"), ({"time": "2099-01-01T00:00:00Z"}, "yet to come"), ({"time": (datetime.now(UTC) + timedelta(days=9)).isoformat()}, "yet to come"),
    ({"device": "Toaster 3000"}, "Toaster 3000"), ({"device": "H100 maybe"}, "H100 maybe"), ({"device": "NVIDIA GeForce RTX 4090"}, "RTX 4090"), ({"driver": ""}, "driver"), ({"driver": None}, "driver"), ({"command": "gemm_tiled(a, b)"}, "command"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), FORGED)
def test_a_receipt_that_no_loader_writes_does_not_count_and_the_reason_says_why(change, reason):
    cell = ("comparison.receipt", [PRINTED], [RECEIPT | change])
    assert found(cell, text=ON_GPU) == [("claim_without_receipt", "review")]
    assert reason in why(cell, text=ON_GPU) and "cell 1" in why(cell, text=ON_GPU)
    assert found(cell, text="I measured 3.11 ms.") == [("figure_not_in_outputs", "review")], (
        "nor does what is printed with it"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [("pass", "launches nothing"), ("1", "launches nothing"), ("'a receipt'", "launches nothing"), ("display({'application/vnd.hopper-course.receipt+json': r}, raw=True)", "writes receipts"), ("from kernels.receipt import Receipt\nReceipt('linear_epilogue', sha, 'gpu', d, v, t, c, f)", "writes receipts")],
)  # fmt: skip
def test_a_receipt_belongs_to_a_cell_that_launches_something(source, reason):
    cell = (source, [], [RECEIPT])
    assert found(cell, text=ON_GPU) == [("claim_without_receipt", "review")]
    assert reason in why(cell, text=ON_GPU)


@pytest.mark.parametrize("value", [None, 3, [], {}, "", "nan", "x" * 100_000, "2026-13-45", True])
def test_anything_may_stand_in_a_receipt(value):
    for name in RECEIPT:
        shown = shown_by(book(("f(1)", [], [RECEIPT | {name: value}])))
        assert name in ("figure", "seed", "policy", "toolkit") or "gpu" not in shown.backends, name


def test_an_emulators_receipt_needs_no_gpu():
    receipt = RECEIPT | {"backend": "emulator", "device": "x86_64, 2 cores", "driver": ""}
    assert shown_by(book(("kernel.receipt", [], [receipt]))).backends == {"emulator"}
