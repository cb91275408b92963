"""Wrong fills made by machine from right ones: every one fails a case that each draw has, or is right on all legal inputs."""

from __future__ import annotations

import functools

import numpy as np

from autograder.lint.hidden import equivalent_fills, filled, fixed_cases, solution_fill, survivors
from autograder.submission.compare import matches
from tests.lessons.legal import LEGAL
from tests.lessons.lessons import EACH_LESSON, lesson

# Lesson 3: one call tells one weighted sum of the two counts, and a person may write many. 4 and 5: each byte, each thread, each register.
MOST_CASES = {3: 300, 4: 170, 5: 170}
RTOL = {1: 1e-9, 2: 1e-9, 7: 2e-7}  # of the comparison on legal inputs, where terms differ in size at random

# Right fills in other styles than the solution's: their neighbours are other mistakes.
OTHER_STYLES = {
    1: [
        "min(peak_flops, bandwidth * flops / bytes_moved) if bytes_moved else peak_flops",
        "peak_flops if peak_flops * bytes_moved <= flops * bandwidth else flops / bytes_moved * bandwidth",
        "flops / max(flops / peak_flops, bytes_moved / bandwidth) if flops else 0.0",
    ],
    2: ["latency * bandwidth", "np.multiply(bandwidth, latency)"],
    3: ["not (pending or tx)", "abs(pending) + abs(tx) == 0", "pending | tx == 0", "(pending, tx) == (0, 0)"],
    4: [
        "row * 128 + (byte ^ row % 8 * 16)",
        "(row << 7) | (((byte >> 4) ^ (row & 7)) << 4) | (byte & 15)",
        "(row * 128 + byte) ^ ((row * 128 + byte) >> 3 & 112)",
    ],
    5: [
        "((warp << 4) + (lane >> 2) + ((register & 2) << 2), ((register >> 2) << 3) + ((lane & 3) << 1) + (register & 1))",
        "(16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 4 >= 2), 2 * (thread % 4) + register % 2 + 8 * (register // 4))",
    ],
    6: [
        "(0, 1 - phase) if index == stages - 1 else (index + 1, phase)",
        "((index + 1) % stages, (phase + (index + 1) // stages) % 2)",
    ],
    7: [
        "alpha * acc + (beta * c if beta else 0)",
        "alpha * acc if c is None or beta == 0 else alpha * acc + beta * c",
        "alpha * acc + beta * c if beta != 0 else alpha * acc",
    ],
    8: [
        "tile_m // 64 // consumer_warpgroups * (tile_n // 2)",
        "tile_m * tile_n / consumer_warpgroups / WARPGROUP",
        "tile_m // consumer_warpgroups * tile_n // WARPGROUP",
    ],
}


@functools.cache
def parts(slug: str) -> tuple[str, str]:
    """(the exercise cell with its blank, the solution's fill)"""
    exercise, solution = (lesson(slug).edition("en").with_role(r)[0].source for r in ("exercise", "solution"))
    return exercise, solution_fill(exercise, solution, lesson(slug).checks.function)


@functools.cache
def legal(slug: str) -> list[tuple[dict, object]]:
    """(input, result)"""
    with np.errstate(all="ignore"):
        return [
            (args, lesson(slug).checks.reference(**args))
            for args in LEGAL[lesson(slug).number](np.random.default_rng(5))
        ]


def first_wrong(slug: str, fill: str) -> dict | None:
    """A legal input for which the fill's result is not the reference's."""
    function, rtol = filled(parts(slug)[0], fill, lesson(slug).checks.function), RTOL.get(lesson(slug).number, 0.0)
    for args, expected in legal(slug):
        try:
            with np.errstate(all="ignore"):
                right = matches(function(**args), expected, rtol)
        except Exception:
            right = False
        if not right:
            return args
    return None


@EACH_LESSON
def test_every_wrong_neighbour_of_the_solution_fails_a_fixed_case(slug):
    """Also where drawn cases would have caught it: they follow the text of a student's program, and luck must not decide."""
    exercise, fill = parts(slug)
    assert list(survivors(lesson(slug).checks, fill, exercise)) == []


@EACH_LESSON
def test_what_is_listed_as_equivalent_has_a_reason_and_is_right(slug):
    for fill, reason in equivalent_fills(lesson(slug).checks).items():
        assert len(reason) > 10, fill
        assert first_wrong(slug, fill) is None, fill


@EACH_LESSON
def test_the_neighbours_of_other_right_fills_fail_a_fixed_case_or_are_right(slug):
    exercise, checks = parts(slug)[0], lesson(slug).checks
    for style in OTHER_STYLES[lesson(slug).number]:
        assert first_wrong(slug, style) is None, style
        found = {
            wrong: args
            for wrong, _ in survivors(checks, style, exercise)
            if (args := first_wrong(slug, wrong)) is not None
        }
        assert found == {}, style


@EACH_LESSON
def test_a_name_of_a_check_says_the_kind_of_case_and_no_drawn_value(slug):
    """Feedback shows it."""
    checks = lesson(slug).checks
    names = [
        {
            c["name"][lang]
            for make in (checks.normal_cases, checks.boundary_cases)
            for c in make(np.random.default_rng(seed))
            for lang in ("zh", "en")
        }
        for seed in range(4)
    ]
    assert all(n == names[0] for n in names)


@EACH_LESSON
def test_fixed_and_drawn_cases_both_decide(slug):
    checks = lesson(slug).checks
    count = sum(len(make(np.random.default_rng(0))) for make in (checks.normal_cases, checks.boundary_cases))
    assert 0.5 * count <= len(fixed_cases(checks)) <= count - 6
    assert count <= MOST_CASES.get(lesson(slug).number, 130), "each costs a call into the sandbox, twice"
