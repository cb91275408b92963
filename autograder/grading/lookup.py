"""Looking figures up: in outputs by their digits, in a lesson's page by their unit too."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from autograder.grading.claimed import NUMBER

# Unit as it is written, in small letters: what it measures, and how much of the first unit of that kind it is.
_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds", "秒"), ("time", 1.0)), **dict.fromkeys(("ms", "millisecond", "milliseconds", "毫秒"), ("time", 1e-3)),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds", "微秒"), ("time", 1e-6)), **dict.fromkeys(("ns", "nanosecond", "nanoseconds", "纳秒"), ("time", 1e-9)),
    **dict.fromkeys(("minute", "minutes", "分钟"), ("time", 60.0)), **dict.fromkeys(("cycle", "cycles", "周期"), ("cycles", 1.0)),
    "gb/s": ("bytes", 1e9), "tb/s": ("bytes", 1e12), **dict.fromkeys(("gflop/s", "gflops", "gflop/", "gflop"), ("flops", 1e9)), **dict.fromkeys(("tflop/s", "tflops", "tflop/", "tflop"), ("flops", 1e12)),
    **dict.fromkeys(("%", "percent", "per cent", "个百分点"), ("factor", 0.01)), "成": ("factor", 0.1), **dict.fromkeys(("x", "倍", "times", "×"), ("factor", 1.0)),
}  # fmt: skip
_WITH_UNIT = re.compile(
    rf"(?<![A-Za-z_\d.])(?P<n>{NUMBER})\s*(?:\\?,|\\;|\$|\\(?:text|mathrm)\{{|\s)*(?P<unit>{'|'.join(sorted((re.escape(u) for u in _UNITS), key=len, reverse=True))})?(?![A-Za-z])",
    re.I,
)
# What NVIDIA's data sheets give for the chips that the course names: nobody measured it.
_DATASHEET = {
    "bytes": (1.555e12, 1.935e12, 2.039e12, 2e12, 3.35e12, 3.9e12, 4.8e12),
    "flops": (312e12, 494e12, 989e12, 989.4e12, 1979e12, 1978.9e12, 3958e12, 67e12, 33.5e12),
}


def in_page(number: str, unit: str, page: str, given: str = "", known: bool = False) -> bool:
    """Does a page give this figure, in this unit or another of its kind, or as a bare number of these digits? A share (43 %) is also what
    a factor (1.43) says. given: code that holds it in some unit or other. known: a data sheet's rate will do."""
    if len(number) >= 40:
        return False
    kind, scale = _UNITS.get(unit.lower(), ("", 1.0))
    value, last = float(number.replace(",", "")), last_digit(number)
    stated = _stated(page)
    telling = (
        len(number.replace(",", "").replace(".", "").strip("0")) >= 3
        or (kind != "factor" and "." in number)
        or (kind == "cycles" and len(number) > 1)
    )
    if value in stated["bare"] and (telling or not kind):  # a bare 4 stands on every page
        return True
    forms = [value * scale]
    if kind == "factor":
        forms += [1 + value * scale, value * scale - 1]
    if any(_near(x, stated[kind], 0.501 * last * scale) for x in forms):
        return True
    if known and any(abs(value * scale - x) <= 0.501 * last * scale for x in _DATASHEET.get(kind, ())):
        return True
    return bool(value) and any(
        _near(value * 10.0**n, numbers(given), 1e-9 * value * 10.0**n) for n in range(-15, 16, 3)
    )


@lru_cache(maxsize=8)
def _stated(page: str) -> Mapping[str, Sequence[float]]:
    """A page's numbers by what they measure, in order of size; "bare": those without a unit."""
    found: dict[str, set[float]] = defaultdict(set)
    for m in _WITH_UNIT.finditer(page[:_MOST]):
        if len(m["n"]) < 40:
            kind, scale = _UNITS[m["unit"].lower()] if m["unit"] else ("bare", 1.0)
            found[kind].add(float(m["n"].replace(",", "")) * scale)
    return defaultdict(tuple, {kind: tuple(sorted(v)) for kind, v in found.items()})


_MOST = 2_000_000


def last_digit(number: str) -> float:
    """What one more in the last digit given is worth."""
    mantissa, _, exponent = number.lower().replace(",", "").partition("e")
    return 10.0 ** (max(-300, min(300, int(exponent[:5] or 0))) - min(300, len(mantissa.partition(".")[2])))


def _near(value: float, have: Sequence[float], by: float) -> bool:
    at = bisect_left(have, value - by)
    return at < len(have) and have[at] <= value + by


@lru_cache(maxsize=8)
def numbers(text: str) -> tuple[float, ...]:
    """The numbers of a text, in order of size."""
    return tuple(sorted(float(n.replace(",", "")) for n in re.findall(NUMBER, text)[:20_000] if len(n) < 40))


def among(number: str, have: Sequence[float], clocked: bool = False) -> bool:
    """To the digits given. clocked: rounded or cut off at the last one, no further; also as so many thousands or thousandths, where it has
    two digits or more."""
    mantissa = number.lower().replace(",", "").partition("e")[0]
    digits = len(mantissa.replace(".", "").lstrip("0")) or 1
    value = float(number.replace(",", ""))
    near = 0.5 * 10 ** (1 - digits) * max(abs(value), 1e-300)
    if clocked:
        near = min(near, 1.001 * last_digit(number))
    for scale in (1e-3, 1.0, 1e3) if clocked and digits > 1 else (1.0,):
        at = bisect_left(have, (value - near) * scale)
        if at < len(have) and have[at] <= (value + near) * scale:
            return True
    return False
