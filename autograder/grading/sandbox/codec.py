"""Values as JSON, between the grader and the sandbox: only plain numbers, strings, lists, dicts and NumPy arrays.

Both sides use this file; the sandbox loads it on its own, so it imports nothing of the course. There is no pickle and no
object hook: what the other side sends can build nothing but the types below, within limits. Types are compared exactly, so
that a subclass with an __eq__ of its own never passes.

JSON form: None, bool, int, float, str and list as themselves; tuple {"t": [..]}, dict {"d": [[key, value], ..]},
complex {"c": [re, im]}, array {"a": [dtype, shape, base64]}, NumPy scalar {"n": [dtype, base64]}, probe {"p": [name, shape, dtype]}.
"""

import base64
import json
import math

import numpy as np

try:
    import ml_dtypes

    _NARROW = {n: np.dtype(getattr(ml_dtypes, n)) for n in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}
except ImportError:  # the narrow types are then refused
    _NARROW = {}

MAX_DEPTH = 8
MAX_ITEMS = 100_000
MAX_BYTES = 8 << 20
MAX_INT_BITS = 4096
MAX_NDIM = 8

_WIDE = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
DTYPES = {n: np.dtype(n) for n in _WIDE} | _NARROW
_NAMES = {d: n for n, d in DTYPES.items()}
_JSON = json.JSONEncoder(separators=(",", ":"))
_NARROWED = {"g": np.float64, "G": np.complex128}  # long double, of which every machine has its own, crosses as double


TOO_MUCH = (
    "nested too deeply",
    "too many items",
    "too large",
)  # of NotPlain: plain in kind, and more of it than may cross


class NotPlain(Exception):
    """A value that may not cross: its type, its depth or its size. The text names the type only, or is one of TOO_MUCH."""


class BadData(Exception):
    """Bytes that no honest encoder makes."""


class ProbeArgument:
    """Stands for {"$probe": name} on its way into the sandbox. shape: of the array of that dtype that it takes the place of; () for a
    float; None where it may be any object."""

    def __init__(self, name, shape=None, dtype="float32"):
        self.name, self.shape, self.dtype = name, shape, dtype


def encode(value, max_bytes=MAX_BYTES, max_items=MAX_ITEMS):
    """JSON bytes of a plain value. Raises NotPlain."""
    budget = [max_items, max_bytes]
    data = _JSON.encode(_pack(value, 0, budget)).encode()
    if len(data) > max_bytes:
        raise NotPlain("too large")
    return data


def _pack(x, depth, budget):
    budget[0] -= 1
    if depth > MAX_DEPTH:
        raise NotPlain("nested too deeply")
    if budget[0] < 0:
        raise NotPlain("too many items")
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.char in _NARROWED:
        x = x.astype(_NARROWED[x.dtype.char])
    kind = type(x)
    if x is None or kind is bool or kind is float:
        return x
    if kind is int:
        if x.bit_length() > MAX_INT_BITS:
            raise NotPlain("an integer too large")
        return x
    if kind is str:
        if len(x) > budget[1]:
            raise NotPlain("too large")
        return x
    if kind is complex:
        return {"c": [x.real, x.imag]}
    if kind is list:
        return [_pack(y, depth + 1, budget) for y in x]
    if kind is tuple:
        return {"t": [_pack(y, depth + 1, budget) for y in x]}
    if kind is dict:
        return {"d": [[_pack(k, depth + 1, budget), _pack(v, depth + 1, budget)] for k, v in x.items()]}
    if kind is np.ndarray:
        name = _NAMES.get(x.dtype)
        if name is None:
            raise NotPlain("an array of dtype " + str(x.dtype)[:40])
        if x.ndim > MAX_NDIM or x.nbytes > budget[1]:
            raise NotPlain("too large")
        return {"a": [name, list(x.shape), base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()]}
    if isinstance(x, np.generic) and kind is x.dtype.type and x.dtype in _NAMES:
        return {"n": [_NAMES[x.dtype], base64.b64encode(x.tobytes()).decode()]}
    if kind is ProbeArgument:
        return {"p": [x.name, None if x.shape is None else list(x.shape), x.dtype]}
    raise NotPlain("an object of type " + str(kind.__name__)[:40])


def decode(data, probe=None, max_bytes=MAX_BYTES, max_items=MAX_ITEMS):
    """The value in JSON bytes. probe: makes the object for {"p": [name, shape, dtype]}; without it a probe is BadData. Raises BadData."""
    if len(data) > max_bytes:
        raise BadData("too large")
    try:
        return _unpack(json.loads(data), 0, [max_items], probe)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, MemoryError) as e:
        raise BadData(type(e).__name__) from None


def _unpack(x, depth, budget, probe):
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise BadData("too deep or too many items")
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if isinstance(x, list):
        return [_unpack(y, depth + 1, budget, probe) for y in x]
    if len(x) != 1:
        raise BadData("not a tagged value")
    ((tag, body),) = x.items()
    if tag == "t":
        return tuple(_unpack(y, depth + 1, budget, probe) for y in body)
    if tag == "d":
        return {_unpack(k, depth + 1, budget, probe): _unpack(v, depth + 1, budget, probe) for k, v in body}
    if tag == "c":
        re, im = body
        return complex(float(re), float(im))
    if tag == "a":
        name, shape, raw = body
        if len(shape) > MAX_NDIM or not all(type(n) is int and n >= 0 for n in shape):
            raise BadData("shape")
        raw, dtype = base64.b64decode(raw, validate=True), DTYPES[name]
        if math.prod(shape) * dtype.itemsize != len(raw):
            raise BadData("array size")
        return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()
    if tag == "n":
        name, raw = body
        raw, dtype = base64.b64decode(raw, validate=True), DTYPES[name]
        if len(raw) != dtype.itemsize:
            raise BadData("scalar size")
        return np.frombuffer(raw, dtype=dtype)[0]
    if tag == "p" and probe is not None:
        return probe(*body)
    raise BadData("unknown tag")
