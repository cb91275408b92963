"""Kernels speak the reader's language: every message of every defect, and each template still stands for a message that is made."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import numpy as np
import pytest

import kernels
from kernels import races, wording
from kernels.compare import Comparison, Row
from kernels.emulator.report import STATUSES
from kernels.wording_zh import TEMPLATES

HERE = Path(kernels.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?:\b[a-z]+\b ){3,}[a-z]+\b")  # four words in a row
DEFECTS = [
    (name, bug) for name, spec in kernels.registry().items() for bug in spec.bugs if not name.startswith("gemm_c")
]


@pytest.fixture
def zh():
    kernels.speak("zh")
    yield
    kernels.speak("en")


@pytest.mark.emulator
@pytest.mark.parametrize("policy", ["random", "lazy_mma"])
def test_what_the_emulator_finds_in_each_defect_is_said_in_chinese(zh, policy):
    said = 0
    for name, bug in DEFECTS:
        given, params = races.arguments(name, bug)
        report = races.run_once(name, bug, policy, 1, True, given, params).report
        lines = (line for finding in report.findings for line in finding.message.split("\n"))
        for line in (line for line in lines if re.search(r"\w", line)):  # a line of dots alone has no language
            said += 1
            assert CHINESE.search(line) and not ENGLISH.search(line), (name, bug, line)
        assert CHINESE.search(str(report)) and str(report).count("\n") == wording.told(str(report)).count("\n")
    assert said > 100


@pytest.mark.emulator
def test_back_end_comparison_and_errors(zh):
    kernel = kernels.load("linear_epilogue", "emulator")
    right = lambda acc, alpha, beta, c=None: alpha * acc if beta == 0 else alpha * acc + beta * c  # noqa: E731
    told = str(kernels.compare(kernel, right, count=6))
    assert (
        kernel.why == "由 backend=emulator 指定。"
        and "6 组中 6 组一致" in told
        and "允许" in told
        and "agree" not in told
    )
    with pytest.raises(kernels.KernelError, match="没有名为 'linear_epilog' 的 kernel"):
        kernels.load("linear_epilog")
    with pytest.raises(kernels.ArgumentError, match="acc 应当是 NumPy 或 CuPy 数组，这里是 list"):
        kernel([1.0], 1.0, 0.0)
    with pytest.raises(kernels.ArgumentError, match="而 C 是 None"):
        kernel(np.ones((2, 3), np.float32), 1.0, 0.5)


def test_a_wait_of_a_deadlock_is_read_as_a_whole(zh):
    who, where = "block (1,0) warps 0-3 lanes 0-31", "tma_tile_copy.cu:40"
    state = (
        "0 phases completed, 6144 bytes landed that nobody expected, last arrival: block (1,0) warp 0 lane 0 at x.cu:37"
    )
    told = wording.told(f"    {who} waits for FULL, parity 0, at {where} | {state}")
    assert told.startswith(
        f"    {who} 在 {where} 等 FULL，奇偶位 0 | 已完成 0 个阶段，落地的 6144 字节没有人预期，最后的到达："
    )


def test_labels_of_a_comparison_stand_in_columns(zh):
    row = lambda label: Row(label, 0.0, 1e-6)  # noqa: E731
    told = str(
        Comparison(
            "k", "f against k (emulator)", (row("one arrival, no bytes"), row("expect and arrive, then the bytes"))
        )
    )
    assert len({wording.width(line.split("误差")[0]) for line in told.split("\n")[1:]}) == 1


def test_english_is_what_is_spoken_until_another_is_chosen():
    with pytest.raises(kernels.KernelError, match="There is no kernel named 'x'"):
        kernels.load("x")
    with pytest.raises(ValueError, match="not 'fr'"):
        kernels.speak("fr")
    assert wording.spoken() == "en"


def test_a_line_that_no_template_fits_stays_as_it_is(zh):
    assert wording.told("  something unheard of at line 3\n") == "  something unheard of at line 3\n"
    assert wording.told("last events:\n  x") == "最近的事件：\n  x"


def _made() -> str:
    """Every text that Python and the runner hold, with {} for what differs, one a line."""
    found = []
    for path in HERE.rglob("*.py"):
        if path.name != "wording_zh.py" and "tests" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    found.append("".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    literals = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
    for path in (HERE / "emulator" / "runtime").glob("*.cpp"):
        for run in literals.findall(path.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))
            found.append(re.sub(r"(?:0x)?%[-+0-9.l]*[a-zA-Z]", "{}", text))
    return "\n".join(found)


def test_each_template_stands_for_a_message_that_is_made():
    made = _made().lower()
    for english in TEMPLATES:
        if english.split(" [")[0].lower().replace(" ", "_") in STATUSES:  # a status, put together with the rule
            continue
        words = english.replace("{d}", "{}").split(" ")
        size = min(3, len(words))
        pieces = [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]
        kept = [p for p in pieces if p.strip("{}.:,;()| ").lower() in made]
        assert len(kept) >= len(pieces) / 3, english


def test_each_translation_says_every_part_once():
    for english, chinese in TEMPLATES.items():
        used = sorted(int(name) for _, name, _, _ in string.Formatter().parse(chinese) if name is not None)
        assert used == list(range(english.count("{}") + english.count("{d}"))), english
