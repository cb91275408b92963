"""The visible checks, tried: one program for the notebook's check(), for `course check` and for the website's page.

The page runs this very file in the reader's browser, in MicroPython: nothing is imported, and what needs a syntax tree, an
exercise's plan (autograder.student.visible.plan_of), is made beforehand. A plan is plain data:

    {"function": name, "prelude": source of the cell's imports, constants and helpers,
     "checks": [{"text": what is asserted, "left": the compared side or None}], "shown": [source of a dict: a visible input]}

An item is (status, text, code); say(key, **values) gives a sentence in the reader's language.
"""

BLANK = "______"
LIMIT = 160  # characters of a value in a message


def short(value, limit=LIMIT):
    """repr for a message: arrays without line breaks, long ones cut."""
    try:
        text = " ".join(repr(value).split())
    except Exception as e:  # a student's object may have a broken repr
        text = f"<{type(value).__name__}: repr raised {type(e).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def error_text(e):
    return f"{type(e).__name__}: {e}" if str(e) else type(e).__name__


def _nothing(e):
    return None


def try_checks(function, plan, space, say, truth=bool, lacking=_nothing):
    """Every check of the plan on `function`. space: the prelude's own namespace, whose helpers then call this function too.

    lacking(e): what this Python lacks where that is why e was raised, else None; then nothing is said against the student's line.
    """
    space[plan["function"]] = function
    items = [_one(check, space, say, truth, lacking) for check in plan["checks"]]
    return items or [("note", say("no_visible"), "visible")]


def _one(check, space, say, truth, lacking):
    text, left = check["text"], None
    try:
        if check["left"]:
            left = eval(check["left"], space)
        passed = truth(eval(text, space))
    except Exception as e:  # whatever the student's function raises is a result to show
        if what := lacking(e):
            return ("note", say("not_here", check=text, what=what), "unsure")
        return ("bad", say("check_raised", check=text, error=error_text(e)), "visible")
    if passed:
        return ("ok", say("check_passed", check=text), "visible")
    if check["left"]:
        return ("bad", say("check_failed", check=text, got=short(left)), "visible")
    return ("bad", say("check_false", check=text), "visible")


def try_case(case, prediction, function, plan, space, say, agrees, matches, lacking=_nothing):
    """The student's own boundary case: does his function give what he predicts? A right one earns its point only if it lies on the
    boundary, which is not known here: it gets no tick."""
    name = plan["function"]
    if not isinstance(case, dict):
        return [("bad", say("case_not_dict"), "own_case")]
    try:
        got = function(**case)
    except Exception as e:
        if what := lacking(e):
            return [("note", say("not_here", check="my_case", what=what), "unsure")]
        return [("bad", say("case_raised", function=name, error=error_text(e)), "own_case")]
    if any(matches(case, eval(shown, space)) for shown in plan["shown"]):
        return [("bad", say("case_same"), "own_case")]
    if not agrees(prediction, got):
        return [("bad", say("case_wrong", prediction=short(prediction), got=short(got)), "own_case")]
    return [("note", say("case_right", got=short(got)), "own_case")]
