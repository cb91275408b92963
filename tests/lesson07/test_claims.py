"""What lesson 7's text concludes from its measurements holds in the data. (The figures themselves: claims.yml.)"""

from __future__ import annotations

import json

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


def fused(variant, k, field="of_gemm", family="course"):
    return one("fused_vs_separate", field, family=family, variant=variant, k=k)


def spread(variant, k) -> float:
    """(90th - 10th percentile) / median of the readings."""
    return (fused(variant, k, "ms_p90") - fused(variant, k, "ms_p10")) / fused(variant, k, "ms")


def test_the_sticky_error_went_as_the_text_tells():
    steps = measured("sticky_error")["points"]
    errors = {s["call"]: s["error"] for s in steps}
    assert errors["launch linear_epilogue, unguarded, beta = 0, C = null"] == ""
    for call in (
        "synchronize",
        "allocate 1 MB",
        "synchronize again",
        "copy to the host",
        "load another kernel through the course's loader",
    ):
        assert "cudaErrorIllegalAddress" in errors[call], call
    assert errors["plain Python: 2 + 2"] == ""
    assert steps[-1]["exit_code"] == 0


def test_at_large_k_fused_and_separate_differ_less_than_the_readings_do():
    """What the text concludes from the residual case at K = 8192."""
    difference = abs(fused("bias, residual, silu fused", 8192) - fused("bias, residual, silu in 1 kernel", 8192))
    assert difference < spread("bias, residual, silu fused", 8192)


def test_reading_c_costs_the_fused_gemm_less_as_k_grows():
    costs = [
        fused("bias, residual, silu fused", k, "ms") / fused("bias, silu fused", k, "ms")
        for k in (512, 1024, 2048, 4096, 8192)
    ]
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


def test_what_the_page_says_of_the_model_is_what_it_gives():
    """Mean relative errors at K = 4096 with one thing of the model changed, in per cent."""
    import numpy as np

    from autograder.claims.schema import read_claims
    from autograder.paths import lessons_dir
    from figures.lesson07_accumulation_error import MODEL, model_errors

    claims, _ = read_claims(lessons_dir() / "lesson07_mixed_precision_epilogue" / "claims.yml")
    fp8, fp16 = MODEL["e4m3 fp8 instruction"], MODEL["fp16 fp16"]
    for name, model in {
        "model_fp8_nearest": fp8 | {"rounding": np.rint},
        "model_fp8_whole": fp8 | {"align": 40},
        "model_fp16_cut": fp16 | {"rounding": np.trunc},
    }.items():
        assert abs(claims[name][0].value - 100 * model_errors([4096], **model)[0]) < 0.01, name
