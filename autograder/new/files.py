"""The files beside the two pages: hidden checks, rubric, claims, labelled answers."""

from __future__ import annotations

import json

from autograder.lesson.model import ANSWER_SLOTS
from autograder.new.words import EXPLANATION_QUESTION, REFERENCE

CHECKS = '''\
"""Hidden checks of lesson {number}. Never released. autograder/lesson/checks.py says what each part does."""

from __future__ import annotations

FUNCTION = "{function}"

# What each name of the fill may be, and "return" the result: (least, largest), whole numbers where both are integers. Lint tries fills
# that are wrong in a part of these ranges only.
RANGES: dict[str, tuple[float, float]] = {{}}

# Fills that look like mistakes and are right, each with the reason, so that lint does not ask for a case against them.
EQUIVALENT_FILLS: dict[str, str] = {{}}


def reference({parameters}):
    """Right on every legal input."""
    raise NotImplementedError("write the reference of checks.py")


def is_boundary(args: dict) -> bool:
    """Whether a student's own input can betray a wrong fill; not if a visible assert has it. The arguments come from outside: any type may stand here."""
    return False


def normal_cases(rng) -> list[dict]:
    """Ordinary inputs: non-square, prime-ish sizes, values that are not all the same. None may be one that is_boundary accepts.

    Some are the same in each draw, and catch every wrong fill that is known: luck must not decide. Some come from the generator, so that none
    can be learnt by heart.

    A case: {{"name": {{"zh": .., "en": ..}}, "args": {{..}}, "expect": reference(..), "rtol": 0.0, "atol": 0.0}}
    """
    return []


def boundary_cases(rng) -> list[dict]:
    """The inputs at which plausible wrong fills go wrong."""
    return []
'''

CLAIMS = """\
# Every figure the pages state: {{{{< var {short}.ID >}}}}. `course claims` works them out; exactly one of receipt, source, compute.
#   copy_rate:
#     says: {{zh: "设备拷贝的带宽", en: "bandwidth of the device copy"}}
#     receipt: figures/data/{short}_x.json
#     value: "points[?kind=='copy'].gbps | [0]"
#     scale: 0.001
#     show: "{{:.2f}} TB/s"
#   registers:                                    # read somewhere, not measured
#     says: {{zh: "一个 SM 的寄存器数", en: "registers of an SM"}}
#     source: "CUDA C++ Programming Guide, compute capabilities, table of technical specifications"
#     value: 64
#     show: "{{:.0f}} K"
#   ratio:                                        # worked out from others
#     says: {{zh: "两者之比", en: "the ratio of the two"}}
#     compute: "100 * copy_rate / lesson01.copy_rate"
#     show: "{{:.0f}} %"
claims: {{}}
"""

_HINTS = (
    ("概念区域。", "The concept area."),
    ("方向。", "The direction."),
    ("关键的一步。", "The key step."),
    ("完整答案，含解答的表达式。", "The full answer, with the solution's expression."),
)
_LINKS = {"explanation": "mechanism", "q1": "mechanism", "q2": "correctness", "q3": "tradeoff"}


def claims(short: str) -> str:
    return CLAIMS.format(short=short)


def checks(number: int, function: str, parameters: str) -> str:
    return CHECKS.format(number=number, function=function, parameters=parameters)


def rubric(slug: str, questions: dict[str, tuple[str, str]]) -> str:
    """questions: of Q1 to Q3, as the pages ask them."""
    said = lambda pair: (
        "{" + f"zh: {json.dumps('TODO：' + pair[0], ensure_ascii=False)}, en: {json.dumps('TODO: ' + pair[1])}" + "}"
    )  # noqa: E731
    out = [
        "# Points, causal links, misconceptions, hints. Schema, with what each field means: autograder/lesson/rubric.py.",
        "# A link is cause -> mechanism -> effect; naming its terms earns nothing. The reference answers stand in reference.yml.",
        f"lesson: {slug}",
        "slots:",
    ]
    for slot in ANSWER_SLOTS:
        question = EXPLANATION_QUESTION if slot == "explanation" else questions[slot]
        out += [
            f"  {slot}:",
            f"    points: {1 if slot == 'explanation' else 2}",
            f"    question: {said(question)}",
            "    full: 1  # three to five links, of which two give full points, are usual",
            "    links:",
            f"      - id: {slot}.first",
            f"        kind: {_LINKS[slot]}",
            "        zh: TODO：原因 -> 机制 -> 结果",
            '        en: "TODO: cause -> mechanism -> effect"',
            f"        hint: {said(('指个方向，不给答案', 'points the way, gives no answer away'))}",
            "    misconceptions: []  # wrong chains; mark the lesson's core one `veto: true`",
        ]
    out += ["hints:", *(f"  - {said(h)}" for h in _HINTS)]
    return "\n".join(out) + "\n"


def reference() -> str:
    said = lambda pair: (
        "{" + f"zh: {json.dumps('TODO：' + pair[0], ensure_ascii=False)}, en: {json.dumps('TODO: ' + pair[1])}" + "}"
    )  # noqa: E731
    lines = ["# The reference answers of the answer edition, word for word as the pages print them."]
    return "\n".join([*lines, *(f"{slot}: {said(REFERENCE[slot])}" for slot in ANSWER_SLOTS)]) + "\n"
