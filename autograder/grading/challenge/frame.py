"""What the jail answers, read strictly: nothing in it is believed to be well-formed, for native code may have written it.

A frame is 8 bytes of length (big-endian), JSON {"error": text, "busy": bool, "rows": [text, ...]}, then float64 numbers (little-endian): of
each row without an error its outputs one after another. How many there are and of which shapes the grader knows from the kernel's spec.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MAX_HEAD = 1 << 16
SHOWN = 600  # characters of a compiler's or the emulator's message


class Malformed(ValueError):
    """The answer is no frame for these outputs."""


@dataclass(frozen=True)
class Answer:
    """error: why nothing ran. busy: a launch was stopped by its time limit on a machine that had not given it its time.
    rows: of each input in turn its outputs, or what the emulator reports."""

    error: str
    busy: bool
    rows: tuple[tuple[np.ndarray, ...] | str, ...]


def largest(shapes: Sequence[Sequence[tuple[int, ...]]]) -> int:
    """Bytes of the longest frame. shapes: of each input the shapes of its outputs."""
    return 8 + MAX_HEAD + sum(map(_bytes, shapes))


def read(data: bytes, shapes: Sequence[Sequence[tuple[int, ...]]]) -> Answer:
    """Raises Malformed for whatever is not exactly a frame."""
    if not 8 <= len(data) <= largest(shapes):
        raise Malformed("its length")
    (length,) = struct.unpack_from("!Q", data)
    if length > min(MAX_HEAD, len(data) - 8):
        raise Malformed("its head's length")
    try:
        head = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as e:
        raise Malformed("its head") from e
    if type(head) is not dict or set(head) != {"error", "busy", "rows"}:
        raise Malformed("its head")
    error, busy, said = head["error"], head["busy"], head["rows"]
    if (
        type(error) is not str
        or type(busy) is not bool
        or type(said) is not list
        or len(said) > len(shapes)
        or not all(type(s) is str for s in said)
    ):
        raise Malformed("its head")
    if len(data) - 8 - length != sum(_bytes(outputs) for s, outputs in zip(said, shapes) if not s):
        raise Malformed("the length of its numbers")
    at, rows = 8 + length, []
    for reported, outputs in zip(said, shapes):
        rows.append(
            clean(reported)
            if reported
            else tuple(_array(data, at + _bytes(outputs[:j]), shape) for j, shape in enumerate(outputs))
        )
        at += 0 if reported else _bytes(outputs)
    return Answer(clean(error), busy, tuple(rows))


def clean(text: str, limit: int = SHOWN) -> str:
    """Text from the jail as it may be stored and shown: no control characters, overrides of the writing direction or lone surrogates."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c.isspace() else "?" for c in text[:limit])


def _bytes(outputs: Sequence[tuple[int, ...]]) -> int:
    return 8 * sum(int(np.prod(shape, dtype=np.int64)) for shape in outputs)


def _array(data: bytes, at: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.frombuffer(data, "<f8", int(np.prod(shape, dtype=np.int64)), at).reshape(shape)
