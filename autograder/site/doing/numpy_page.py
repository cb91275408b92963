"""The part of NumPy that a lesson's exercise cell needs, for MicroPython in the reader's browser.

Numbers and arrays of one axis, of float64 or int64, operations that IEEE arithmetic or integers give exactly. Everything else raises
NotHere, which the page tells as not tried: never a result that NumPy would not give. tests/site/test_page_python.py holds it to NumPy.
"""

import math

nan, inf, pi, e = math.nan, math.inf, math.pi, math.e
newaxis = None
_WHOLE = 2**63  # the least integer that int64 does not hold


class NotHere(BaseException):
    """The page's Python cannot do this. Not an Exception: a student's own except does not swallow it."""


def _absent(name):
    raise NotHere(name)


def _plain(x):
    """A scalar as Python's own number."""
    if isinstance(x, float64):
        return x.value
    if isinstance(x, (bool, int, float)):
        return x
    _absent(f"NumPy of {type(x).__name__}")


def _divide(a, b):
    """As IEEE says: NumPy raises nothing."""
    a, b = float(a), float(b)
    if b:
        return a / b
    if a != a or b != b or not a:
        return nan
    return math.copysign(inf, a) * math.copysign(1.0, b)


def _whole(x):
    """An integer result: NumPy's int64 would wrap round where Python's grows."""
    if isinstance(x, int) and not isinstance(x, bool) and not -_WHOLE <= x < _WHOLE:
        _absent("int64 overflow")
    return x


_OPS = {
    "add": lambda a, b: _whole(a + b),
    "sub": lambda a, b: _whole(a - b),
    "mul": lambda a, b: _whole(a * b),
    "truediv": _divide,
}
_COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _both(f, a, b, scalar):
    """f element by element; a number goes with every element."""
    if isinstance(a, (list, tuple)):
        a = array(a)
    if isinstance(b, (list, tuple)):
        b = array(b)
    if isinstance(a, ndarray) and isinstance(b, ndarray):
        n = max(len(a.items), len(b.items))
        if 1 not in (len(a.items), len(b.items)) and len(a.items) != len(b.items):
            raise ValueError(
                f"operands could not be broadcast together with shapes ({len(a.items)},) ({len(b.items)},) "
            )
        pairs = zip(a.items if len(a.items) == n else a.items * n, b.items if len(b.items) == n else b.items * n)
        return ndarray([f(x, y) for x, y in pairs])
    if isinstance(a, ndarray):
        b = _plain(b)
        return ndarray([f(x, b) for x in a.items])
    if isinstance(b, ndarray):
        a = _plain(a)
        return ndarray([f(a, y) for y in b.items])
    return scalar(f(_plain(a), _plain(b)))


def _arithmetic(name, swapped=False):
    f = _OPS[name]

    def method(self, other):
        if other is None or isinstance(other, str):
            raise TypeError(f"unsupported operand type(s): '{type(self).__name__}' and '{type(other).__name__}'")
        return _both(f, other, self, _scalar) if swapped else _both(f, self, other, _scalar)

    return method


def _comparison(name):
    f = _COMPARE[name]

    def method(self, other):
        if other is None or isinstance(other, str):
            return name == "ne" if isinstance(self, float64) else _absent("comparing an array with that")
        return _both(f, self, other, bool)

    return method


def _scalar(x):
    return float64(x) if isinstance(x, float) else x if isinstance(x, bool) else _absent("NumPy's integer scalars")


class _Operators:
    __add__, __radd__ = _arithmetic("add"), _arithmetic("add", True)
    __sub__, __rsub__ = _arithmetic("sub"), _arithmetic("sub", True)
    __mul__, __rmul__ = _arithmetic("mul"), _arithmetic("mul", True)
    __truediv__, __rtruediv__ = _arithmetic("truediv"), _arithmetic("truediv", True)
    __eq__, __ne__ = _comparison("eq"), _comparison("ne")
    __lt__, __le__, __gt__, __ge__ = _comparison("lt"), _comparison("le"), _comparison("gt"), _comparison("ge")


class float64(_Operators):
    """A number that NumPy gave."""

    ndim, shape, size = 0, (), 1

    def __init__(self, x=0.0):
        self.value = float(_plain(x))

    def __repr__(self):
        return f"np.float64({self.value!r})"

    def __str__(self):
        return repr(self.value)

    def __float__(self):
        return self.value

    def __int__(self):
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __hash__(self):
        return hash(self.value)

    def __neg__(self):
        return float64(-self.value)

    def __pos__(self):
        return self

    def __abs__(self):
        return float64(abs(self.value))

    def __getitem__(self, index):
        return self if isinstance(index, tuple) and index == () else _absent("indexing a number")

    def item(self):
        return self.value

    tolist = item


class ndarray(_Operators):
    """An array of one axis. items: Python's numbers, all floats, all ints or all truth values."""

    ndim = 1

    def __init__(self, items):
        self.items = items

    @property
    def shape(self):
        return (len(self.items),)

    @property
    def size(self):
        return len(self.items)

    def __repr__(self):
        return f"array({self.items!r})"

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter([_element(x) for x in self.items])

    def __getitem__(self, index):
        if isinstance(index, tuple) and index == ():
            return self
        if isinstance(index, slice):
            return ndarray(self.items[index])
        return _element(self.items[index]) if isinstance(index, int) else _absent("indexing by arrays")

    def __bool__(self):
        if len(self.items) != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.items[0])

    def __neg__(self):
        return ndarray([-x for x in self.items])

    def __abs__(self):
        return ndarray([abs(x) for x in self.items])

    def tolist(self):
        return list(self.items)

    def all(self):
        return all(self.items)

    def any(self):
        return any(self.items)


def _element(x):
    return float64(x) if isinstance(x, float) else x if isinstance(x, bool) else _absent("NumPy's integer scalars")


def array(values, dtype=None):
    if isinstance(values, ndarray):
        values = values.items
    if not isinstance(values, (list, tuple)):
        _absent("arrays without an axis")
    items = [_plain(x) if not isinstance(x, (list, tuple, ndarray)) else _absent("arrays of two axes") for x in values]
    kinds = {"b" if isinstance(x, bool) else "f" if isinstance(x, float) else "i" for x in items}
    if dtype in (float, float64) or not items:
        return ndarray([float(x) for x in items])
    if dtype is not None or len(kinds) > 1 and "b" in kinds:
        _absent("this dtype")
    return ndarray([float(x) if "f" in kinds else _whole(x) for x in items])


def asarray(values, dtype=None):
    return values if isinstance(values, ndarray) and dtype is None else array(values, dtype)


def _each(f, floats_only=False):
    """A function of one number, on numbers and arrays; the result is a float, as NumPy's."""

    def function(x):
        if isinstance(x, (list, tuple)):
            x = array(x)
        if floats_only and not all(
            [isinstance(v, (float, float64)) for v in (x.items if isinstance(x, ndarray) else [x])]
        ):
            _absent("this of integers")  # newer NumPys leave them integers
        if isinstance(x, ndarray):
            return ndarray([f(float(v)) for v in x.items])
        return float64(f(float(_plain(x))))

    return function


def _finite(f):
    """floor and ceil give an integer in Python, and NaN and infinity raise; zero keeps its sign in NumPy."""
    return lambda x: x if x != x or x in (inf, -inf) else math.copysign(float(f(x)), x) if not f(x) else float(f(x))


ceil, floor = _each(_finite(math.ceil), True), _each(_finite(math.floor), True)
sqrt = _each(lambda x: nan if x < 0 else math.sqrt(x))


def add(a, b):
    return _both(_OPS["add"], a, b, _scalar)


def subtract(a, b):
    return _both(_OPS["sub"], a, b, _scalar)


def multiply(a, b):
    return _both(_OPS["mul"], a, b, _scalar)


def divide(a, b):
    return _both(_divide, a, b, _scalar)


true_divide = divide


def equal(a, b):
    return _both(_COMPARE["eq"], a, b, bool)


def not_equal(a, b):
    return _both(_COMPARE["ne"], a, b, bool)


def maximum(a, b):
    return _both(lambda x, y: x if x != x or x > y else y, a, b, _scalar)


def minimum(a, b):
    return _both(lambda x, y: x if x != x or x < y else y, a, b, _scalar)


def where(condition, a, b):
    if not isinstance(condition, ndarray):
        _absent("np.where of a number")  # an array without an axis
    n = len(condition.items)
    sides = [x.items if isinstance(x, ndarray) else [_plain(x)] * n for x in (a, b)]
    if any(len(s) != n for s in sides):
        _absent("np.where over several lengths")
    picked = [x if c else y for c, x, y in zip(condition.items, sides[0], sides[1])]
    return ndarray([float(x) for x in picked] if any(isinstance(x, float) for s in sides for x in s) else picked)


def isscalar(x):
    return isinstance(x, (bool, int, float, str, float64))


def ndim(x):
    return 1 if isinstance(x, (ndarray, list, tuple)) else 0
