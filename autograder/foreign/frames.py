"""What goes into the jail and what comes out of it for `course run FILE.cu`: 8 bytes of length (big-endian), JSON, then the arrays' bytes.

What comes out is read strictly: native code may have written it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.grading.challenge.frame import Malformed, clean
from kernels.tensormap import TensorMap

MAX_HEAD = 1 << 18


@dataclass(frozen=True)
class Answer:
    """error: why nothing ran, "" where it ran.  status, text, output: the emulator's report and what the kernel printed.
    kernels: of a listing (name, template, ((type, name), ...), file, line)."""

    error: str
    status: str = ""
    text: str = ""
    output: str = ""
    kernels: tuple = field(default_factory=tuple)


def arrays_of(args: Mapping[str, Any]) -> list[np.ndarray]:
    """The arrays among the arguments, in order."""
    return [a.array if isinstance(a, TensorMap) else a for a in args.values() if isinstance(a, (np.ndarray, TensorMap))]


def request(head: Mapping[str, Any], args: Mapping[str, Any], initial: Mapping[str, np.ndarray]) -> bytes:
    described = {
        **head,
        "args": [(n, _describe(a)) for n, a in args.items()],
        "initial": [(n, _describe(a)) for n, a in initial.items()],
    }
    body = json.dumps(described).encode()
    return (
        struct.pack("!Q", len(body))
        + body
        + b"".join(np.ascontiguousarray(a).tobytes() for a in [*arrays_of(args), *arrays_of(initial)])
    )


def _describe(a: Any) -> dict:
    if isinstance(a, TensorMap):
        return {**_describe(a.array), "kind": "map", "box": list(a.box), "swizzle": a.swizzle}
    if isinstance(a, np.ndarray):
        return {"kind": "array", "dtype": a.dtype.name, "shape": list(a.shape)}
    if isinstance(a, np.generic):
        return {"kind": "typed", "dtype": a.dtype.name, "value": a.item()}
    return {"kind": "plain", "value": a}


def read(data: bytes, args: Mapping[str, Any]) -> Answer:
    """The answer; the arrays among args are changed in place. Raises Malformed for whatever is not exactly a frame."""
    if len(data) < 8 or not 2 <= (length := struct.unpack_from("!Q", data)[0]) <= min(MAX_HEAD, len(data) - 8):
        raise Malformed("its length")
    try:
        head = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as e:
        raise Malformed("its head") from e
    if type(head) is not dict or type(head.get("error")) is not str:
        raise Malformed("its head")
    if head["error"]:
        return Answer(clean(head["error"], 4000))
    if "kernels" in head:
        try:
            kernels = tuple(
                (str(n), str(t), tuple((str(a), str(b)) for a, b in ps), str(f), int(line))
                for n, t, ps, f, line in head["kernels"]
            )
        except (TypeError, ValueError) as e:
            raise Malformed("its list") from e
        return Answer(
            "",
            kernels=tuple(
                (clean(n), clean(t), tuple((clean(a), clean(b)) for a, b in ps), clean(f), line)
                for n, t, ps, f, line in kernels
            ),
        )
    if not all(type(head.get(k)) is str for k in ("status", "text", "output")):
        raise Malformed("its head")
    at = 8 + length
    arrays = arrays_of(args)
    if len(data) - at != sum(a.nbytes for a in arrays):
        raise Malformed("the length of its arrays")
    for a in arrays:
        a.view("u1").reshape(-1)[:] = np.frombuffer(data, np.uint8, a.nbytes, at)
        at += a.nbytes
    return Answer("", clean(head["status"]), clean(head["text"], 12000), clean(head["output"], 8000))
