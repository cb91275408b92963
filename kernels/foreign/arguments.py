"""Arguments of a foreign kernel as text: --arg "x=float32[1024]:random".

x=float32[1024]:random        an array; fills: zeros, ones, arange, random, random(LOW,HIGH), empty (NaN or 0xFF), or a number
x=int32[31,7]:random(0,10)    several axes, whole numbers from LOW up to but without HIGH
n=1024   a=2.5   n=uint64:7   a number; with a type where the kernel's parameter is a struct of that size (half, bfloat16)
p=null                        a null pointer
x=@FILE.npy                   an array from a file that NumPy saved
a=map:bfloat16[256,64]:random:box=64x64:swizzle=128     a tensor map (CUtensorMap) of an array, for TMA
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from kernels.arrays import poison
from kernels.errors import ArgumentError
from kernels.tensormap import TensorMap

MOST_BYTES = 1 << 30  # of all arrays of a launch
_TYPES = {
    **{
        n: np.dtype(n)
        for n in (
            "float16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "bool",
        )
    },
    **{n: np.dtype(getattr(ml_dtypes, n)) for n in ("bfloat16", "float8_e4m3fn", "float8_e5m2")},
}
_TYPES |= {
    "float": _TYPES["float32"],
    "double": _TYPES["float64"],
    "half": _TYPES["float16"],
    "int": _TYPES["int32"],
    "bf16": _TYPES["bfloat16"],
    "e4m3": _TYPES["float8_e4m3fn"],
}
_ARRAY = re.compile(r"(?P<type>\w+)\[(?P<shape>[\d,x* ]+)\](?::(?P<fill>.*))?")
_EXAMPLE = 'Write NAME=TYPE[SHAPE]:FILL, as "x=float32[1024]:random", or NAME=NUMBER.'


def parse(text: str, rng: np.random.Generator, left: int = MOST_BYTES) -> tuple[str, Any]:
    """(name, value) of one argument. rng: for random fills. left: bytes that an array may have. Raises ArgumentError."""
    name, equals, value = (p.strip() for p in text.partition("="))
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or not value:
        raise ArgumentError(f"The argument {text!r} is not NAME=VALUE. {_EXAMPLE}")
    if value in ("null", "nullptr", "NULL"):
        return name, None
    if value.startswith("@"):
        return name, _file(name, Path(value[1:]), left)
    if value.startswith("map:"):
        return name, _map(name, value[4:], rng, left)
    if m := _ARRAY.fullmatch(value):
        return name, _array(name, m, rng, left)
    kind, colon, number = value.rpartition(":")
    parsed = _number(number)
    if parsed is None or colon and kind not in _TYPES:
        raise ArgumentError(
            f"{name}: {value!r} is neither an array nor a number. {_EXAMPLE} Types: {', '.join(_TYPES)}."
        )
    return name, _TYPES[kind].type(parsed) if colon else parsed


def parse_all(texts, seed: int = 0) -> dict[str, Any]:
    """All arguments in order. Raises ArgumentError, also where a name is given twice or the arrays are too large."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    left = MOST_BYTES
    for text in texts:
        name, value = parse(text, rng, left)
        if name in found:
            raise ArgumentError(f"The argument {name} is given twice.")
        left -= (
            value.nbytes if isinstance(value, np.ndarray) else value.array.nbytes if isinstance(value, TensorMap) else 0
        )
        found[name] = value
    return found


def _number(text: str) -> int | float | bool | None:
    if text in ("true", "false"):
        return text == "true"
    for kind in (lambda t: int(t, 0), float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None


def _array(name: str, m: re.Match, rng: np.random.Generator, left: int) -> np.ndarray:
    if m["type"] not in _TYPES:
        raise ArgumentError(f"{name}: there is no type {m['type']!r}. Types: {', '.join(_TYPES)}.")
    dtype = _TYPES[m["type"]]
    try:
        shape = tuple(int(n) for n in re.split(r"[,x*]", m["shape"].strip(", ")))
    except ValueError:
        raise ArgumentError(f"{name}: [{m['shape']}] is no shape. {_EXAMPLE}") from None
    count = 1
    for n in shape:
        count *= n
    if not count:
        raise ArgumentError(f"{name}: an array must have at least one element; its shape is {shape}.")
    if count * dtype.itemsize > left:
        raise ArgumentError(
            f"{name} would take {count * dtype.itemsize:,} bytes; a launch on the emulator may have {MOST_BYTES:,} in all its arrays. Use a smaller size: races and results show at hundreds of threads."
        )
    return _filled(name, shape, dtype, m["fill"] or "zeros", rng)


def _filled(name: str, shape: tuple[int, ...], dtype: np.dtype, fill: str, rng: np.random.Generator) -> np.ndarray:
    whole = dtype.kind in "iub"
    if m := re.fullmatch(r"random(?:\(([^,()]+),([^,()]+)\))?", fill):
        low, high = (_number(m[i]) if m[i] else None for i in (1, 2))
        if whole:
            top = 2 if dtype.kind == "b" else 100
            low, high = (0, top) if low is None else (low, high)
            if high is None or not int(low) < int(high):
                raise ArgumentError(f"{name}: {fill} needs whole numbers, LOW below HIGH.")
            return rng.integers(int(low), int(high), shape).astype(dtype)
        return (rng.standard_normal(shape) if low is None else rng.uniform(float(low), float(high or 0), shape)).astype(
            dtype
        )
    a = np.empty(shape, dtype)
    if fill == "empty":
        poison(a)
    elif fill == "arange":
        a[...] = np.arange(a.size).reshape(shape).astype(dtype)
    else:
        value = {"zeros": 0, "ones": 1}.get(fill, _number(fill))
        if value is None:
            raise ArgumentError(
                f"{name}: there is no fill {fill!r}. Fills: zeros, ones, arange, random, random(LOW,HIGH), empty, or a number."
            )
        a[...] = np.asarray(value).astype(dtype)
    return a


def _file(name: str, path: Path, left: int) -> np.ndarray:
    try:
        if path.stat().st_size > left:
            raise ArgumentError(f"{name}: {path.name} is larger than the {left:,} bytes that are left for arrays.")
        a = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as e:
        raise ArgumentError(f"{name}: {path} cannot be read as an array that numpy.save wrote: {e}.") from None
    return np.ascontiguousarray(a)


def _map(name: str, value: str, rng: np.random.Generator, left: int) -> TensorMap:
    head, *options = value.split(":box=")
    m = _ARRAY.fullmatch(head)
    box = re.fullmatch(r"(\d+)x(\d+)(?::swizzle=(\d+))?", options[0]) if options else None
    if not m or not box:
        raise ArgumentError(
            f'{name}: a tensor map is written as "{name}=map:bfloat16[256,64]:random:box=64x64:swizzle=128" (box: rows x columns).'
        )
    return TensorMap(
        _array(name, m, rng, left), (int(box[1]), int(box[2])), **({"swizzle": int(box[3])} if box[3] else {})
    )


def in_order(parameters, given: Mapping[str, Any], kernel: str) -> list[Any]:
    """The arguments in the order of the kernel's parameters. Raises ArgumentError that shows the kernel's signature."""
    names = [p.name for p in parameters]
    signature = f"{kernel}({', '.join(f'{p.type} {p.name}' for p in parameters)})"
    missing, unknown = [n for n in names if n not in given], [n for n in given if n not in names]
    if missing or unknown:
        said = [f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"] if missing else []
        said += [f"it has no parameter {', '.join(unknown)}"] if unknown else []
        raise ArgumentError(f"The arguments do not fit {signature}: {'; '.join(said)}. {_EXAMPLE}")
    return [given[n] for n in names]
