"""The reference kernel against the student's function, and the challenge, told in the notebook's language."""

from __future__ import annotations

from collections.abc import Callable

import kernels
from autograder.student.show import Report
from autograder.student.words import say

SHOWN = 6  # rows that agree; every row that does not is shown
BLANK = "______"


def run_and_compare(
    name: str, mine: Callable, lang: str, *, count: int, backend: str | None
) -> tuple[Report, dict | None]:
    """(report, receipt as a MIME bundle). A kernel that cannot run here is said, not raised."""
    report = Report(say(lang, "kernel_title", name=name), lang)
    try:
        kernel = kernels.load(name, backend, poison=True)
        report.add("note", say(lang, "kernel_backend", backend=kernel.backend, why=kernel.why), "backend")
        comparison = kernels.compare(kernel, mine, count=count)
    except kernels.KernelError as e:
        report.add("bad", say(lang, "kernel_failed", error=e), "kernel")
        return report, None
    _rows(report, comparison, lang, getattr(mine, "__name__", "function"))
    return report, _receipt(report, comparison)


def try_line(name: str, line: str, lang: str, *, count: int) -> tuple[Report, dict | None]:
    """The kernel with the student's line in the marked place, on the emulator, held to its float64 reference."""
    report = Report(say(lang, "challenge_title", name=name), lang)
    try:
        spec = kernels.registry().get(name)
        if not line.strip() or BLANK in line:
            left = kernels.challenge_left(name)
            place = kernels.challenge_text(name).replace(BLANK, f"{left} = {BLANK};" if left else BLANK)
            report.add("todo", say(lang, "challenge_empty", file=spec.source) + "\n" + place, "challenge")
            return report, None
        comparison = kernels.challenge(name, kernels.challenge_statement(name, line), count=count)
    except kernels.LineRefused as e:
        report.add("bad", e.zh if lang == "zh" else e.en, "challenge")
        return report, None
    except kernels.KernelError as e:
        report.add("bad", str(e), "challenge")
        return report, None
    if comparison.error:
        report.add(
            "bad",
            say(lang, "challenge_run" if comparison.rows else "challenge_compile", error=comparison.error),
            "challenge",
        )
    elif comparison.passed:
        report.add("ok", say(lang, "challenge_done", n=len(comparison.rows)), "challenge")
    if comparison.rows:
        _rows(report, comparison, lang, "kernel")
    return report, _receipt(report, comparison)


def _rows(report: Report, comparison, lang: str, who: str) -> None:
    agreeing = [r for r in comparison.rows if r.passed]
    for row in (r for r in comparison.rows if not r.passed):
        report.add(
            "bad",
            say(
                lang,
                "row_bad",
                case=row.label,
                why=row.note or say(lang, "row_error", error=row.error, bound=row.bound),
            ),
            "case",
        )
    for row in agreeing[:SHOWN]:
        report.add("ok", say(lang, "row_ok", case=row.label, error=row.error), "case")
    if len(agreeing) > SHOWN:
        report.add("ok", say(lang, "row_more", n=len(agreeing) - SHOWN), "case")
    report.foot.append(say(lang, "rows_total", who=who, good=len(agreeing), all=len(comparison.rows)))


def _receipt(report: Report, comparison) -> dict | None:
    if comparison.receipt is None:
        return None
    report.foot.append(str(comparison.receipt))
    return {k: v for k, v in comparison.receipt._repr_mimebundle_().items() if k != "text/plain"}
