"""Every measured figure in lesson 7's text is the one in its data file, and no figure stands there without one."""

from __future__ import annotations

import json
import re

import pytest

from autograder.lesson import load_lesson
from autograder.lesson.model import LANGS
from autograder.paths import course_root

LESSON = load_lesson("7")


def measured(name: str) -> dict:
    return json.loads((course_root() / "figures" / "data" / f"lesson07_{name}.json").read_text(encoding="utf-8"))


def one(name: str, field: str, **where):
    """The field of the only point that has these values."""
    rows = [p for p in measured(name)["points"] if all(p[k] == v for k, v in where.items())]
    assert len(rows) == 1, (name, where, len(rows))
    return rows[0][field]


def accumulation(operands, accumulator, k, field="max_error"):
    return one("accumulation_error", field, operands=operands, accumulator=accumulator, k=k)


def guard(variant, out):
    return one("beta_guard", "ms", variant=variant, out=out)


def fused(variant, k, field="of_gemm", family="course"):
    return one("fused_vs_separate", field, family=family, variant=variant, k=k)


def spread(variant, k) -> float:
    """(90th - 10th percentile) / median of the readings."""
    return (fused(variant, k, "ms_p90") - fused(variant, k, "ms_p10")) / fused(variant, k, "ms")


def cast(which, out, kept):
    return one("early_late_cast", "norm_error", cast=which, out=out, kept=kept)


def science(x: float, digits: int = 1) -> str:
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(x: float, digits: int) -> str:
    return f"{100 * x:.{digits}f} %"


def claims() -> list[str]:
    """The measured figures as the text writes them, in the order of the text."""
    promoted = max(p["max_error"] for p in measured("accumulation_error")["points"] if p["accumulator"] == "promoted")
    unguarded = {out: guard("unguarded, beta = 0", out) / guard("guarded, beta = 0", out) for out in ("fp32", "bf16")}
    silu = [fused("bias, silu fused", k) for k in (512, 1024, 2048, 4096, 8192)]
    reading = {k: fused("bias, residual, silu fused", k, "ms") / fused("bias, silu fused", k, "ms") - 1 for k in (512, 8192)}
    late32 = max(p["norm_error"] for p in measured("early_late_cast")["points"] if p["cast"] == "late" and p["out"] == "fp32")
    return [
        percent(accumulation("e4m3", "fp8 instruction", 512), 2),
        percent(accumulation("e4m3", "fp8 instruction", 4096), 1),
        percent(accumulation("e4m3", "fp8 instruction", 65536), 0),
        science(promoted),
        percent(accumulation("fp16", "fp16", 4096), 2),
        percent(accumulation("fp16", "fp16", 65536, "overflow"), 0),
        science(accumulation("fp16", "fp32", 4096)),
        science(accumulation("fp16", "fp32", 65536)),
        science(accumulation("e4m3", "promoted", 65536)),
        f"{unguarded['fp32']:.2f}",
        f"{unguarded['bf16']:.2f}",
        percent(1 - 1 / unguarded["fp32"], 0),
        percent(1 - 1 / unguarded["bf16"], 0),
        percent(reading[512], 0),
        percent(reading[8192], 0),
        f"{min(silu):.2f}",
        f"{max(silu):.2f}",
        f"{fused('bias, silu in 1 kernel', 512):.2f}",
        f"{fused('bias, silu in 1 kernel', 8192):.2f}",
        f"{fused('bias, residual, silu fused', 8192):.2f}",
        f"{fused('bias, residual, silu in 1 kernel', 8192):.2f}",
        percent(spread("bias, residual, silu fused", 8192), 0),
        science(cast("early", "fp16", 0.01)),
        science(cast("late", "fp16", 0.01)),
        f"{cast('early', 'fp16', 0.001):.2f}",
        science(late32),
    ]


# Not measured here: worked arithmetic (ratios of bytes, the demonstration's 100 %), the model's bound, which test_pages checks,
# and what DeepSeek-V3's report (section 3.3.2) found at K = 4096.
ELSEWHERE = {"100 %", "10 %", "1.50", "1.33", "2 %"}


def prose(lang: str) -> str:
    text = "\n".join(c.source for c in LESSON.edition(lang).cells if c.kind == "markdown")
    text = re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", " ", text, flags=re.S)
    return text[: text.index("when-profile")]  # the reference answers stand after it


@pytest.mark.parametrize("lang", LANGS)
def test_each_measured_figure_is_in_the_text(lang):
    text = prose(lang)
    missing = [c for c in claims() if not re.search(rf"(?<![\d.]){re.escape(c)}(?!\d)", text)]
    assert not missing, f"{lang}.qmd does not say {missing}: the data have changed, or the text"


@pytest.mark.parametrize("lang", LANGS)
def test_no_figure_stands_in_the_text_without_data(lang):
    known = set(claims()) | ELSEWHERE
    found = set(re.findall(r"(?<![\d.])\d+(?:\.\d+)?e-\d+|(?<![\d.])\d+(?:\.\d+)? ?%|(?<![\d.])\d\.\d\d(?![\d.])", prose(lang)))
    assert found - known == set()


def test_the_sticky_error_went_as_the_text_tells():
    steps = measured("sticky_error")["points"]
    errors = {s["call"]: s["error"] for s in steps}
    assert errors["launch linear_epilogue, unguarded, beta = 0, C = null"] == ""
    for call in ("synchronize", "allocate 1 MB", "synchronize again", "copy to the host", "load another kernel through the course's loader"):
        assert "cudaErrorIllegalAddress" in errors[call], call
    assert errors["plain Python: 2 + 2"] == ""
    assert steps[-1]["exit_code"] == 0


def test_at_large_k_fused_and_separate_differ_less_than_the_readings_do():
    """What the text concludes from the residual case at K = 8192."""
    difference = abs(fused("bias, residual, silu fused", 8192) - fused("bias, residual, silu in 1 kernel", 8192))
    assert difference < spread("bias, residual, silu fused", 8192)


def test_reading_c_costs_the_fused_gemm_less_as_k_grows():
    costs = [fused("bias, residual, silu fused", k, "ms") / fused("bias, silu fused", k, "ms") for k in (512, 1024, 2048, 4096, 8192)]
    assert costs == sorted(costs, reverse=True)


def test_mean_and_maximum_of_the_fp32_accumulator_nearly_agree():
    for k in (4096, 65536):
        assert accumulation("fp16", "fp32", k, "mean_error") > 0.9 * accumulation("fp16", "fp32", k)
    assert accumulation("fp16", "fp32", 65536) / accumulation("fp16", "fp32", 4096) == pytest.approx(16, rel=0.05)


@pytest.mark.parametrize("lang", LANGS)
def test_device_driver_and_day_of_the_receipts_are_as_written(lang):
    text = LESSON.edition(lang).text.replace("（", " (").replace("）", ")")
    for name in ("accumulation_error", "beta_guard", "fused_vs_separate", "early_late_cast", "sticky_error"):
        receipt = measured(name)["receipt"]
        assert receipt["device"] in text and receipt["driver"] in text and receipt["time"][:10] in text, name
        assert receipt["source_sha256"] and receipt["command"].startswith("course bench"), name
