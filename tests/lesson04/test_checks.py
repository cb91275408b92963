"""Lesson 4's hidden checks: every plausible wrong fill fails, every right style passes and is admitted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograder.lesson import load_lesson
from autograder.lesson.checks import load_checks
from autograder.lesson.model import BLANK
from autograder.lesson.store import find_lesson
from autograder.lint.hidden import fixed_cases
from autograder.submission.admit import refusal
from autograder.submission.fill import extract, program, read_exercise
from tests.support import fills

CHECKS = load_checks(find_lesson("4") / "checks.py")
SEEDS = range(20)

RIGHT = {
    "as the kernel": "row * 128 + (byte ^ row % 8 * 16)",
    "chunks": "row * 128 + (byte // 16 ^ row % 8) * 16 + byte % 16",
    "shifts and masks": "(row << 7) | ((((byte >> 4) ^ (row & 7)) << 4) | (byte & 15))",
    "CuTe's way: the address itself": "(row * 128 + byte) ^ ((row * 128 + byte) >> 3 & 0x70)",
    "no parentheses": "row * 128 + byte ^ row % 8 * 16",
    "sum of differing bits": "128 * row + byte % 16 + 16 * ((byte // 16) ^ (row % 8))",
    "NumPy": "int(row * 128 + np.bitwise_xor(byte, row % 8 * 16))",
    "XOR spelled out": "row * 128 + ((byte | row % 8 * 16) - (byte & row % 8 * 16))",
    "named expression": "row * 128 + ((chunk := byte // 16) ^ row % 8) * 16 + byte - chunk * 16",
}

WRONG = {
    "no swizzle": "row * 128 + byte",
    "row not taken modulo 8": "row * 128 + (byte ^ row * 16)",
    "row modulo 4 (the 64-byte swizzle)": "row * 128 + (byte ^ row % 4 * 16)",
    "row modulo 2 (the 32-byte swizzle)": "row * 128 + (byte ^ row % 2 * 16)",
    "row modulo 16": "row * 128 + (byte ^ row % 16 * 16)",
    "row divided by 8": "row * 128 + (byte ^ row // 8 * 16)",
    "bytes for chunks": "row * 128 + (byte ^ row % 8)",
    "words for chunks": "row * 128 + (byte ^ row % 8 * 4)",
    "32-byte chunks": "row * 128 + (byte ^ row % 8 * 32)",
    "rotation for XOR": "row * 128 + (byte + row % 8 * 16) % 128",
    "rotation the other way": "row * 128 + (byte - row % 8 * 16) % 128",
    "addition without wrap": "row * 128 + byte + row % 8 * 16",
    "the place within the chunk is lost": "row * 128 + (byte // 16 ^ row % 8) * 16",
    "upside down": "row * 128 + (byte ^ (7 - row % 8) * 16)",
    "the row moves, not the chunk": "(row ^ byte // 16 % 8) * 128 + byte",
    "operands swapped": "byte * 128 + (row ^ byte % 8 * 16)",
    "mask binds looser than times": "row * 128 + (byte ^ row & 7 * 16)",
    "OR for XOR": "row * 128 + (byte | row % 8 * 16)",
    "chunk index for byte offset": "row * 128 + (byte // 16 ^ row % 8) + byte % 16",
    "rows of 64 bytes": "row * 64 + (byte ^ row % 8 * 16)",
    "within the row only": "byte ^ row % 8 * 16",
    "right in the first eight rows only": "row * 128 + (byte ^ row * 16) if row < 8 else row * 128 + byte",
    "right from row 8 on modulo 7": "row * 128 + (byte ^ row % 7 * 16)",
    "right but for the last chunk": "row * 128 + (byte ^ row % 8 * 16 if byte < 112 else byte)",
    "even rows only": "row * 128 + (byte ^ row % 8 // 2 * 2 * 16)",
    "right in some rows only": "row * 128 + (byte ^ row % 8 * 16) if row < 38 or row == 63 or row % 8 in (3, 6) else row * 128 + byte",
    "right in some rows of each eight": "row * 128 + (byte ^ row % 8 * 16) if not (row > 16 and row % 8 in (1, 2, 4)) else row * 128 + byte",
    "one row wrong": "row * 128 + (byte ^ row % 8 * 16) if row != 41 else row * 128 + byte",
    "one byte wrong": "row * 128 + (byte ^ row % 8 * 16) if byte != 50 else 0",
    "one byte of the last chunk wrong": "row * 128 + (byte ^ row % 8 * 16) if byte != 125 else row * 128 + byte",
    "only the visible asserts": "{(0, 37): 37, (1, 0): 144, (5, 24): 712, (7, 20): 996}.get((row, byte), 0)",
    "a float": "row * 128 + (byte ^ row % 8 * 16) + 0.5",
    "nothing": "None",
}


def function_of(fill: str):
    space = {"np": np, "math": math}
    exec(f"def swizzled_offset(row, byte):\n    return {fill}\n", space)
    return space["swizzled_offset"]


def passes(function, case: dict) -> bool:
    try:
        return function(**case["args"]) == case["expect"]
    except Exception:
        return False


def cases(seed: int) -> list[dict]:
    return CHECKS.normal_cases(np.random.default_rng(seed)) + CHECKS.boundary_cases(np.random.default_rng(seed))


@pytest.mark.parametrize("name", RIGHT)
def test_right_fills_pass(name):
    assert all(passes(function_of(RIGHT[name]), case) for seed in SEEDS for case in cases(seed))


STATEMENTS = (
    "chunk, inside = divmod(byte, 16)\n    return row * 128 + (chunk ^ row % 8) * 16 + inside",
    "offset = row * 128 + byte\n    offset ^= (offset >> 7 & 7) << 4\n    return offset",
    "turn = row & 7\n    if not turn:\n        return 128 * row + byte\n    return 128 * row + (byte ^ turn << 4)",
)


@pytest.mark.parametrize("fill", [f"return {e}" for e in RIGHT.values()] + list(STATEMENTS))
def test_right_fills_are_admitted(fill):
    """Also statements in the blank's place."""
    (cell,) = load_lesson("4").edition("zh").with_role("exercise")
    exercise = read_exercise(cell.source, CHECKS.function)
    taken = extract(exercise, cell.source.replace(f"return {BLANK}", fill))
    assert refusal(exercise, taken.statements) is None
    space = {"np": np, "math": math}
    exec(compile(program(exercise, taken), "<exercise>", "exec"), space)
    assert all(passes(space["swizzled_offset"], case) for case in cases(1))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_fills_fail(name):
    for seed in SEEDS:
        assert not all(passes(function_of(WRONG[name]), case) for case in cases(seed)), f"seed {seed}"
    assert fills.caught_without_luck(CHECKS, function_of(WRONG[name]))


SILENT = {
    "one byte wrong",
    "one byte of the last chunk wrong",
    "row not taken modulo 8",
    "row modulo 16",
    "right in the first eight rows only",
    "only the visible asserts",
    "right in some rows only",
    "right in some rows of each eight",
    "one row wrong",
}


@pytest.mark.parametrize("name", WRONG)
def test_the_visible_asserts_say_nothing_of_row_8_and_beyond(name):
    """As the page says. What is wrong in the first eight rows they catch."""
    (cell,) = load_lesson("4").edition("en").with_role("exercise")
    wrong = False
    try:
        exec(cell.source.replace(BLANK, WRONG[name]), {"np": np})
    except (AssertionError, TypeError):
        wrong = True
    assert wrong == (name not in SILENT | {"right but for the last chunk"}), name


def test_every_row_and_every_byte_stands_in_each_draw():
    fixed = [c["args"] for c in fixed_cases(CHECKS)]
    assert {a["row"] for a in fixed} == set(range(64)) and {a["byte"] for a in fixed} == set(range(128))


@pytest.mark.parametrize(
    ("row", "byte", "counts"),
    [
        (8, 0, True),
        (63, 127, True),
        (13, 40, True),
        (1, 112, True),
        (7, 127, True),
        (0, 127, False),
        (5, 24, False),
        (7, 111, False),
        (64, 0, False),
        (8, 128, False),
        (-1, 3, False),
        (8.0, 1, False),
        (True, 120, False),
        (None, 1, False),
    ],
)
def test_which_inputs_are_boundaries(row, byte, counts):
    assert CHECKS.is_boundary({"row": row, "byte": byte}) is counts


@pytest.mark.parametrize(
    "name", ["row not taken modulo 8", "row modulo 4 (the 64-byte swizzle)", "addition without wrap"]
)
def test_a_boundary_input_gives_some_wrong_version_away(name):
    """Each of the wrong versions that boundaries are there for fails on some accepted input; rows beyond 8 always betray the missing modulo."""
    wrong = function_of(WRONG[name])
    accepted = [(r, b) for r in range(64) for b in range(128) if CHECKS.is_boundary({"row": r, "byte": b})]
    assert any(wrong(r, b) != CHECKS.reference(r, b) for r, b in accepted)
    if name == "row not taken modulo 8":
        assert all(wrong(r, b) != CHECKS.reference(r, b) for r, b in accepted if r >= 8)
