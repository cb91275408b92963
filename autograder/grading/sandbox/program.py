"""What runs in a fill process: the pristine cell with the student's blank in it, called once for each case the grader sends.

The sandbox loads this file on its own. Frames are a 4-byte length and JSON of codec.py. The first frame is the program
{"program": text of syntax.py, "function", "builtins", "room": [items, bytes] that a reply may have}; the answer is ("ready",) or
("raised", exception name). Then each frame is a dict of arguments, answered by ("value", result, [probes used], [arguments changed]),
("raised", exception name, [..], [..]) or ("not_plain", what, [..], [..]). An argument is changed when the call has written into it.
"""

import builtins
import ctypes
import math
import mmap
import os
import struct
import sys

import codec
import numpy as np
import syntax

MODULES = {}  # what `import` can find: filled by the zygote
MAX_FRAME = codec.MAX_BYTES


def read_frame(fd):
    """One frame, or None at end of file."""
    head = _read(fd, 4)
    if head is None:
        return None
    (length,) = struct.unpack("!I", head)
    return _read(fd, length) if length <= MAX_FRAME else None


def _read(fd, length):
    parts, left = [], length
    while left:
        part = os.read(fd, min(left, 1 << 20))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def write_frame(fd, data):
    data = struct.pack("!I", len(data)) + data
    while data:
        data = data[os.write(fd, data) :]


class Probe:
    """An argument that must not be used when the case says so: it records any use and yields NaN, which spoils the result.

    Asking whether it is None, or naming it without use, is no use. Nor is showing it (print, str, an f-string): its text is a fixed word,
    so that nothing can be learnt from it, and what is worked out from the text is wrong.
    """

    def __init__(self, name, log):
        object.__setattr__(self, "_probe", (name, log))

    def __getattribute__(self, name):
        if name == "__class__":
            return Probe  # isinstance() asks for it
        _used(self)
        return float("nan")


def _used(probe):
    name, log = object.__getattribute__(probe, "_probe")
    if name not in log:
        log.append(name)


def _spoil(result):
    def method(self, *args, **kwargs):
        _used(self)
        return result

    return method


_BINARY = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and xor or".split()
for _name in [p + b for b in _BINARY for p in ("", "r", "i")] + [
    "neg",
    "pos",
    "abs",
    "invert",
    "round",
    "getitem",
    "float",
    "complex",
]:
    setattr(Probe, f"__{_name}__", _spoil(float("nan")))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "bool", "contains", "setitem", "setattr"):
    setattr(Probe, f"__{_name}__", _spoil(False))
for _name in ("int", "index", "len", "hash"):
    setattr(Probe, f"__{_name}__", _spoil(0))
Probe.__iter__ = lambda self: (_used(self), iter(()))[1]
Probe.__array__ = lambda self, *args, **kwargs: (_used(self), np.array(np.nan))[1]
Probe.__array_ufunc__ = _spoil(float("nan"))
Probe.__array_function__ = _spoil(float("nan"))
for _name in ("str", "repr", "format"):
    setattr(Probe, f"__{_name}__", lambda self, *spec: "probe")


def _unreadable(size):
    """Address of `size` bytes that end the process when anything reads or writes them; the page before them is ordinary memory."""
    memory = mmap.mmap(-1, mmap.PAGESIZE + size)
    _KEPT.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + mmap.PAGESIZE
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    return address


_KEPT = []  # such memory, and the floats on it, until the process ends


class UnreadableFloat(float):
    """A float in all but that its value ends the process when it is read, by whatever code in whatever way. Its text is that of NaN."""

    __slots__ = ()
    __str__ = __repr__ = lambda self: "nan"

    def __format__(self, spec):
        return format(math.nan, spec)


def _unreadable_float():
    """Its head (count of references and type) at the end of an ordinary page, its value at the start of the next, which is unreadable."""
    head = UnreadableFloat.__basicsize__ - ctypes.sizeof(ctypes.c_double)
    at = _unreadable(ctypes.sizeof(ctypes.c_double)) - head
    model = UnreadableFloat()
    ctypes.memmove(at, id(model), head)
    made = ctypes.cast(at, ctypes.py_object).value
    _KEPT.append(made)  # so that it is never freed
    return made


def _probe(name, shape, dtype, log):
    """The object for ProbeArgument(name, shape, dtype). An array is an ordinary one, but that it ends the process when it is read."""
    if shape is None:
        return Probe(name, log)
    if not shape:
        return _unreadable_float()
    dtype, count = np.dtype(dtype), math.prod(shape)
    size = max(1, count) * dtype.itemsize
    address = _unreadable(size)
    _UNREADABLE.append(range(address, address + size))
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype, count).reshape(shape)


_UNREADABLE = []  # addresses of this call's array probes


def _address(array):
    return array.__array_interface__["data"][0]


def _shown_unread(text):
    """NumPy's function for an array's text, which for an array probe and its views shows NaN in place of reading them."""

    def shown(array, *args, **kwargs):
        if any(_address(array) in memory for memory in _UNREADABLE):
            value = np.array(np.nan, array.dtype) if array.dtype.kind in "fc" else np.zeros((), array.dtype)
            array = np.broadcast_to(value, array.shape)
        return text(array, *args, **kwargs)

    return shown


for _name in (
    "_default_array_str",
    "_default_array_repr",
):  # what str(), repr() and f-strings of an array call, whichever way they come
    if hasattr(np._core.arrayprint, _name):  # in another NumPy the process ends as at any other reading
        setattr(np._core.arrayprint, _name, _shown_unread(getattr(np._core.arrayprint, _name)))


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """NumPy's C code imports its own parts through this too, e.g. to print an array."""
    if level or name.split(".")[0] not in MODULES or name not in sys.modules:
        raise ImportError("not offered in the exercise")
    return sys.modules[name] if fromlist else sys.modules[name.split(".")[0]]


def _type(x, /):
    """type() of one value. Not of a class: that would be `type` itself, which makes classes."""
    if isinstance(x, type):
        raise TypeError("not offered in the exercise")
    return float if type(x) is UnreadableFloat else type(x)


def _safe_builtins(names):
    return {n: getattr(builtins, n) for n in names if hasattr(builtins, n)} | {"__import__": _import, "type": _type}


def _name_of(error):
    name = type(error).__name__
    return name[:40] if isinstance(name, str) else "Exception"


def _state(x):
    """What an argument holds that a call could change in place; None where there is nothing."""
    if type(x) is np.ndarray:
        return x.dtype.str, x.shape, x.tobytes()
    return codec.encode(x) if type(x) in (list, dict) else None


def _changed(args, before):
    """Names of the arguments that are not what they were."""
    out = []
    for name, state in before.items():
        try:
            same = _state(args[name]) == state
        except Exception:  # no longer anything plain
            same = False
        if not same:
            out.append(name)
    return out


def run(fd):
    """Serve one program until the grader closes the descriptor."""
    data = read_frame(fd)
    if data is None:
        return
    spec = codec.decode(data)
    space = {"__builtins__": _safe_builtins(spec["builtins"]), "__name__": "exercise", "np": np, "numpy": np} | {
        n: m for n, m in MODULES.items() if n == "math"
    }
    try:
        exec(compile(syntax.loads(spec["program"]), "<exercise>", "exec", dont_inherit=True), space)
        function = space[spec["function"]]
    except BaseException as e:  # SystemExit and KeyboardInterrupt of a fill end nothing
        write_frame(fd, codec.encode(("raised", _name_of(e))))
        return
    write_frame(fd, codec.encode(("ready",)))
    items, size = spec["room"]
    while (data := read_frame(fd)) is not None:
        log, probes = [], []
        _UNREADABLE.clear()

        def probe(name, shape, dtype):
            probes.append(name)
            return _probe(name, shape, dtype, log)

        args = codec.decode(data, probe)
        before = {
            n: state for n, x in args.items() if n not in probes and (state := _state(x)) is not None
        }  # a probe must not be read
        try:
            reply = ("value", function(**args), log)
        except BaseException as e:
            reply = ("raised", _name_of(e), log)
        reply += (_changed(args, before),)
        del args, before
        try:
            out = codec.encode(reply, size, items)
        except codec.NotPlain as e:
            out = codec.encode(("not_plain", str(e), *reply[2:]))
        except BaseException as e:  # out of memory while encoding
            out = codec.encode(("raised", _name_of(e), [], []))
        write_frame(fd, out)
