"""What the page runs in MicroPython: the student's cells, then the checks, by the notebook's own program (autograder.student.portable).

Put together with plain.py, portable.py and numpy_page.py into one source (data.program). run(text) takes and gives JSON.
"""

# ruff: noqa: F821 (names of the files it is put together with)

import io
import json
import math as _math
import sys

from course_page import exponential  # of the worker: a float's shortest digits, as JavaScript writes them

KINDS = ("int", "float", "bool", "str", "list", "tuple", "dict", "set", "ndarray", "float64")


class _Math:
    """math, and what MicroPython's lacks."""

    def __getattr__(self, name):
        if name in _ADDED:
            return _ADDED[name]
        try:
            return getattr(_math, name)
        except AttributeError:
            raise NotHere("math." + name) from None


def _gcd(*numbers):
    a = 0
    for b in numbers:
        if not isinstance(b, int):
            raise TypeError(f"'{type(b).__name__}' object cannot be interpreted as an integer")
        while b:
            a, b = b, a % b
    return abs(a)


def _lcm(*numbers):
    found = 1
    for n in numbers:
        if not n:
            return 0
        found = abs(found * n) // _gcd(found, n)
    return found


def _prod(values, *, start=1):
    for v in values:
        start = start * v
    return start


_ADDED = {"gcd": _gcd, "lcm": _lcm, "prod": _prod}


class _NumPy:
    """The module numpy, of the names of numpy_page."""

    def __getattr__(self, name):
        if name in NUMPY:
            return NUMPY[name]
        raise NotHere("np." + name)


def _round(x, digits=None):
    if digits is not None and not isinstance(x, int):
        raise NotHere("round(x, digits)")  # MicroPython's rounds twice
    return round(x)


np, maths = _NumPy(), _Math()
sys.modules["numpy"], sys.modules["math"] = np, maths


def _lacks(names):
    """names: what the grader lets a blank use. -> lacking(e): which of these is why e was raised, or None."""

    def lacking(e):
        text = str(e)
        words = text.replace("'", " ").split()
        if isinstance(e, AttributeError) and words and words[-1] in names["attributes"] and words[0] in KINDS:
            return "." + words[-1]
        if isinstance(e, NameError) and len(words) > 1 and words[1] in names["builtins"]:
            return words[1]
        if isinstance(e, ImportError) and words and words[-1] in names["modules"]:
            return "import " + words[-1]
        if isinstance(e, TypeError) and ("'ndarray'" in text or "'float64'" in text):
            return "this operation on arrays"
        return None

    return lacking


def _where(e):
    """The line of the cell where it was raised, as text; "" where it is not told."""
    out = io.StringIO()
    sys.print_exception(e, out)
    lines = [x for x in out.getvalue().split("\n") if "<string>" in x]
    return lines[-1].split("line ")[1].split(",")[0] if lines and "line " in lines[-1] else ""


def _repr(value):
    """As Python writes it: MicroPython's floats are not always the shortest text that means them."""
    if isinstance(value, float64):
        return f"np.float64({_float(value.value)})"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (list, tuple)):
        inside = ", ".join([_repr(x) for x in value])
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_repr(k)}: {_repr(v)}" for k, v in value.items()]) + "}"
    return repr(value)


def _float(x):
    if x != x or x in (_math.inf, -_math.inf):
        return repr(x)
    digits, exponent = exponential(x).split("e")
    sign, digits, n = "-" if digits[0] == "-" else "", digits.lstrip("-").replace(".", ""), int(exponent)
    if x == 0 and _math.copysign(1.0, x) < 0:
        sign = "-"
    if n < -4 or n >= 16:
        return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{'-' if n < 0 else '+'}{abs(n):02d}"
    if n < 0:
        return f"{sign}0.{'0' * (-n - 1)}{digits}"
    digits += "0" * (n + 1 - len(digits))
    return f"{sign}{digits[: n + 1]}.{digits[n + 1 :] or '0'}"


def short(value, limit=LIMIT):
    """In place of portable's."""
    try:
        text = " ".join(_repr(value).split())
    except Exception as e:
        text = f"<{type(value).__name__}: repr raised {type(e).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def error_text(e):
    """In place of portable's: where MicroPython words an everyday error unlike Python, Python's words."""
    kind, text = type(e).__name__, str(e)
    if kind == "NameError" and text.startswith("local variable"):
        kind, text = "UnboundLocalError", "a name is read here before it has a value"
    text = text.replace("isn't defined", "is not defined").replace("divide by zero", "division by zero")
    return f"{kind}: {text}" if text else kind


def _code(source):
    """The source without its comments, as far as finding the blank goes."""
    return "\n".join(line.split("#")[0] for line in source.split("\n"))


def _space(extra):
    return dict({"__name__": "exercise", "np": np, "numpy": np, "math": maths, "round": _round}, **extra)


def run(text):
    """{"cell", "case" or None, "plan", "words", "names"} -> {"items": of the exercise, "case": of the own case}, as JSON."""
    request = json.loads(text)
    words, plan = request["words"], request["plan"]

    def say(key, **values):
        return words[key].format(**values)

    try:
        items, case = _run(request, plan, say, _lacks(request["names"]))
    except NotHere as e:
        items, case = [("note", say("not_here", check=plan["function"], what=str(e)), "unsure")], None
    return json.dumps({"items": items, "case": case})


def _run(request, plan, say, lacking):
    name = plan["function"]
    space = _space({})
    items = _define(request["cell"], name, space, say, lacking)
    if items is None:
        own = {}
        exec(plan["prelude"], own)
        items = try_checks(space[name], plan, own, say, _truth, lacking)
    case = request["case"]
    if case is not None:
        case = _case(case, space, plan, say, lacking, any(code == "blank" for _, _, code in items))
    return items, case


def _truth(value):
    return value.all() if isinstance(value, ndarray) else bool(value)


def _define(cell, name, space, say, lacking):
    """Run the exercise cell. Items where it gave no function to try, else None."""
    if BLANK in _code(cell):
        return [("todo", say("blank_empty", function=name), "blank")]
    try:
        exec(cell, space)
    except SyntaxError as e:
        return [("bad", say("no_parse", why=_told(e)), "blank"), ("note", say("page_syntax"), "unsure")]
    except Exception as e:  # an assert of the cell's own is tried again below, and told
        if name not in space:
            if what := lacking(e):
                return [("note", say("not_here", check=name, what=what), "unsure")]
            return [("bad", say("cell_raises", function=name, error=_told(e)), "blank")]
    if name not in space:
        return [("todo", say("no_function", function=name), "blank")]
    return None if callable(space[name]) else [("bad", say("not_function", function=name), "blank")]


def _told(e):
    line = _where(e)
    return error_text(e) + (f" (line {line})" if line else "")


def _case(source, space, plan, say, lacking, waits):
    if BLANK in _code(source):
        return [("todo", say("case_empty"), "own_case")]
    if waits:
        return [("todo", say("case_waits", function=plan["function"]), "own_case")]
    given = dict(space)
    try:
        exec(source, given)
    except Exception as e:  # the cell's own assert is tried below
        if "my_case" not in given or "my_prediction" not in given:
            if what := lacking(e):
                return [("note", say("not_here", check="my_case", what=what), "unsure")]
            return [("bad", say("page_case", error=_told(e)), "own_case")]
    if "my_case" not in given or "my_prediction" not in given:
        return [("todo", say("case_empty"), "own_case")]
    own = {}
    exec(plan["prelude"], own)
    case, prediction = given["my_case"], given["my_prediction"]
    return try_case(case, prediction, space[plan["function"]], plan, own, say, _agrees, _matches, lacking)


def _flat(x):
    return x.value if isinstance(x, float64) else x


def _agrees(predicted, result):
    """As the grader has it (grading.own_case.agrees): a list, or one number, is a prediction of an array too."""
    if isinstance(result, ndarray):
        items = predicted.items if isinstance(predicted, ndarray) else predicted
        items = list(items) if isinstance(items, (list, tuple)) else [items] * len(result.items)
        return agrees(items, result.items)
    if isinstance(result, (list, tuple)):
        return agrees(predicted, result, _agrees)
    return agrees(_flat(predicted), _flat(result))


def _matches(actual, expected, rtol=0.0, atol=0.0):
    actual, expected = _flat(actual), _flat(expected)
    if isinstance(expected, ndarray):
        return isinstance(actual, ndarray) and matches(actual.items, expected.items, rtol, atol)
    return matches(actual, expected, rtol, atol, _matches)
