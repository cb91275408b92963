from autograder.gradebook.killtest import run_kill_test
from autograder.gradebook.tests.fake import FakeGrader, hand_in, notebook


def test_killed_runs_lose_nothing_and_grade_nothing_twice(lesson, course, inbox):
    for n in range(60):
        hand_in(inbox, lesson, f"s{n:03d}", notebook(lesson, exercise=f"# {n}"))
    outcome = run_kill_test(
        lesson, inbox, course, lambda log: FakeGrader(lesson, log=log, delay=0.002), kills=8, seed=3, longest=0.5
    )
    assert outcome.kills == 8
    assert outcome.twice == [] and outcome.problems == []
