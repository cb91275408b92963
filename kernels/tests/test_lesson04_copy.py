"""Lesson 4: the tile as the copy engine lays it, the transpose, the swizzle's law, bank conflicts counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from part1 import (
    defect_gives_wrong_numbers,
    defect_is_reported,
    functions_are_told_apart,
    hold_to_float64,
    lines_are_told_apart,
)

from kernels import ArgumentError
from kernels.kernel import load
from kernels.spec import get_spec
from kernels.specs.bulk_copy import ROW_BYTES, lay_out, swizzled_offset, wavefronts

pytestmark = pytest.mark.emulator
WRONG = {
    "no swizzle": lambda row, byte: row * ROW_BYTES + byte,
    "row not taken modulo 8": lambda row, byte: row * ROW_BYTES + (byte ^ row * 16),
    "row modulo 4 (the 64-byte swizzle)": lambda row, byte: row * ROW_BYTES + (byte ^ row % 4 * 16),
    "bytes for chunks": lambda row, byte: row * ROW_BYTES + (byte ^ row % 8),
    "rotation for XOR": lambda row, byte: row * ROW_BYTES + (byte + row % 8 * 16) % 128,
    "row XOR chunk on the row": lambda row, byte: (row ^ byte // 16 % 8) * ROW_BYTES + byte,
    "upside down": lambda row, byte: row * ROW_BYTES + (byte ^ (7 - row % 8) * 16),
}


@pytest.mark.parametrize("name", ["tma_tile_copy", "transpose"])
def test_against_float64(name):
    hold_to_float64(name)


def test_the_exercise():
    functions_are_told_apart("tma_tile_copy", swizzled_offset, WRONG, count=4)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 63), st.integers(0, 127))
def test_the_swizzle_moves_chunks_within_their_row(row, byte):
    """Its own inverse within the row; bytes of a 16-byte chunk stay together; rows 8 apart are laid alike."""
    at = swizzled_offset(row, byte)
    assert at // ROW_BYTES == row and swizzled_offset(row, at % ROW_BYTES) == row * ROW_BYTES + byte
    assert at % 16 == byte % 16
    assert swizzled_offset(row + 8, byte) == at + 8 * ROW_BYTES


def test_a_function_that_loses_bytes_is_refused():
    x = np.ones((3, 4), np.float32)
    with pytest.raises(ValueError, match="same place"):
        lay_out(x, lambda row, byte: row * ROW_BYTES)


def test_bank_conflicts_counted():
    """What Nsight Compute measured on an H200 too, within 0.6 % (lesson04_bank_conflicts.json)."""
    assert {v: wavefronts(*v)["wavefronts"] for v in ((0, 4), (128, 4), (0, 16), (128, 16))} == {
        (0, 4): 2048,
        (128, 4): 256,
        (0, 16): 512,
        (128, 16): 64,
    }
    assert wavefronts(128, 16)["least"] == 64


@pytest.mark.parametrize("name,bug", [(n, b) for n in ("tma_tile_copy", "transpose") for b in get_spec(n).bugs])
def test_defects(name, bug):
    if bug == "no_swizzle":
        defect_gives_wrong_numbers(name, bug)
        return
    reports = defect_is_reported(name, bug, policies=("friendly", "late", "pct"))
    rules = {f.rule for r in reports for f in r.findings}
    if bug == "no_proxy_fence":
        assert rules == {"missing-proxy-fence"}
    if bug == "expect_inside_only":
        assert rules == {"deadlock"} and "bytes landed that nobody expected" in str(reports[0])


def test_whole_tiles_hide_the_edge_defect():
    """expect_inside_only is right wherever no box hangs over: why edge sizes are in every test."""
    draw = lambda *shape: np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    x, scale, shift = draw(128, 64), draw(128), draw(64)
    y = load("tma_tile_copy", "emulator", bug="expect_inside_only")(x, scale, shift, image=False)
    assert np.allclose(y, scale[:, None] * x + shift, atol=1e-5)


@pytest.mark.parametrize("name,declare", [("tma_tile_copy", "uint32_t offset"), ("transpose", "const uint32_t offset")])
def test_the_challenge(name, declare):
    right = [f"{declare} = row * ROW_BYTES + ((byte / 16 ^ row & 7) << 4) + byte % 16;"]
    wrong = {
        "no swizzle": f"{declare} = row * ROW_BYTES + byte;",
        "row not modulo 8": f"{declare} = row * ROW_BYTES + (byte ^ row * 16);",
        "64-byte swizzle": f"{declare} = row * ROW_BYTES + (byte ^ row % 4 * 16);",
        "rotation": f"{declare} = row * ROW_BYTES + (byte + row % 8 * 16) % 128;",
    }
    lines_are_told_apart(name, right, wrong, count=2)


def test_refusals():
    x, v = np.ones((4, 8), np.float32), np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match=r"shift must have shape \(8,\)"):
        load("tma_tile_copy", "emulator")(x, v, v)
    with pytest.raises(ArgumentError, match="swizzle must be one of"):
        load("transpose", "emulator")(x, swizzle=64)
