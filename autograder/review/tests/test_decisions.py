"""The store of decisions: the last one counts, nothing that was told as kept is lost, the same answer is found however it is written."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import CourseError
from autograder.lesson import load_lesson
from autograder.review.decisions import Decision, Decisions, answer_key, now, slot_hash

LESSON = "lesson07_mixed_precision_epilogue"
ANSWERS = ["beta 为 0 时不读 c", "c is not read, so NaN in it does no harm", "It is faster."]


def decision(answer, points, *, slot="q1", rubric="r1", **more):
    return Decision(slot=slot, answer=answer, points=points, by="ann", when=now(), rubric_hash=rubric, **more)


RECORD = st.tuples(
    st.just("record"),
    st.lists(st.tuples(st.sampled_from(ANSWERS), st.integers(0, 2)), min_size=1, max_size=3, unique_by=lambda x: x[0]),
)
STEP = st.one_of(RECORD, st.just(("undo",)), st.just(("kill",)), st.tuples(st.just("torn"), st.integers(1, 200)))


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=14))
def test_any_interleaving_gives_the_last_decision(tmp_path_factory, steps):
    """Against a plain stack of actions. A kill loses the process; a torn one also leaves part of a line that was never told as kept."""
    root = tmp_path_factory.mktemp("course")
    store, stack, torn = Decisions.load(root, LESSON), [], 0
    for step in steps:
        if step[0] == "record":
            store.record(decision(a, p) for a, p in step[1])
            stack.append(dict(step[1]))
        elif step[0] == "undo":
            assert (store.undo("bob") is None) == (not stack)
            stack = stack[:-1]
        else:
            store.close()
            if step[0] == "torn":
                line = decision(ANSWERS[0], 2).model_dump_json().encode()
                with (
                    (root / "decisions" / f"{LESSON}.jsonl").open("ab")
                    if store.path.exists()
                    else _made(store.path) as file
                ):
                    file.write(line[: min(step[1], len(line) - 1)])
                torn += 1
            store = Decisions.load(root, LESSON)
            assert len(store.problems) == (torn > 0)
            if torn == 2:
                assert "2 half-written lines are ignored" in store.problems[0]
            store.open()  # as the page does before anything else: the torn line gets an end of its own
        for answer in ANSWERS:
            want = next((some[answer] for some in reversed(stack) if answer in some), None)
            found = store.find("q1", answer, "r1")
            assert (found and found.points) == want
    store.close()


def _made(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("ab")


def test_the_same_answer_is_found_however_it_is_written(tmp_path):
    store = Decisions.load(tmp_path, LESSON)
    store.record([decision("Because `beta` is **0**, C is not read.\n\nSo NaN does no harm.", 2)])
    again = Decisions.load(tmp_path, LESSON)
    assert again.find("q1", "because beta is 0,  c is not read. so NaN\ndoes no harm.", "r1").points == 2
    assert again.find("q2", "Because beta is 0, C is not read. So NaN does no harm.", "r1") is None, "another question"
    assert again.find("q1", "Because beta is 0, C is read. So NaN does no harm.", "r1") is None
    assert again.find("q1", "Because beta is 0, C is not read. So NaN does no harm.", "r2") is None
    assert again.earlier("q1", "Because beta is 0, C is not read. So NaN does no harm.", "r2").points == 2


@pytest.mark.parametrize(
    "other",
    [
        "c is ~~not~~ read",
        "c is <del>not</del> read",
        "c is $\\cancel{not}$ read",
        "c is n\u0336o\u0336t\u0336 read",
        "c is <span style='color:white'>not</span> read",
        "c is not read ![](x.png)",
    ],
)
def test_what_a_page_shows_otherwise_is_another_answer(other):
    assert answer_key(other) != answer_key("c is not read") and answer_key(other) == answer_key(other + " \n")


def test_an_empty_answer_and_one_with_a_picture_hold_for_nobody_else(tmp_path):
    store = Decisions.load(tmp_path, LESSON)
    store.record([decision("  ", 0, students=["ann"]), decision("see the picture", 2, shared=False, students=["ann"])])
    assert store.find("q1", " ", "r1") is None and store.find("q1", "see the picture", "r1") is None
    assert (
        store.find_of("ann", "q1", "see the picture", "r1").points == 2
        and store.find_of("bob", "q1", "see the picture", "r1") is None
    )


def test_the_hash_is_of_what_is_asked(tmp_path):
    slot = load_lesson("7").rubric.slots["q1"]
    hint = slot.links[0].hint.model_copy(update={"en": "another hint"})
    assert slot_hash(
        slot.model_copy(update={"links": [slot.links[0].model_copy(update={"hint": hint}), *slot.links[1:]]})
    ) == slot_hash(slot)
    assert slot_hash(slot.model_copy(update={"full": slot.full - 1})) != slot_hash(slot)
    assert slot_hash(slot.model_copy(update={"links": slot.links[1:]})) != slot_hash(slot)


def test_a_second_page_is_refused_and_a_folder_that_cannot_be_written_says_so(tmp_path):
    first, second = Decisions.load(tmp_path, LESSON), Decisions.load(tmp_path, LESSON)
    first.open()
    with pytest.raises(CourseError, match="Another `course review`"):
        second.open()
    first.close()
    second.open()
    second.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="cannot be read"):
        Decisions.load(tmp_path / "file", LESSON)
    with pytest.raises(CourseError, match="cannot be written"):
        Decisions(tmp_path / "file" / "decisions" / "x.jsonl").open()


def test_killed_in_the_middle_nothing_told_as_kept_is_lost(tmp_path):
    """A process that records as fast as it can, and tells each one after it is kept, is killed with SIGKILL."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom autograder.review.tests.test_decisions import *\n"
        "store = Decisions.load(Path(sys.argv[1]), LESSON)\nn = 0\n"
        "while True:\n    store.record([decision(f'answer {n}', n % 3)]); print(n, flush=True); n += 1\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]
    )
    told = [int(process.stdout.readline()) for _ in range(20)]
    process.kill()
    told += [int(line) for line in process.stdout.read().split("\n")[:-1] if line.strip()]
    process.wait()
    store = Decisions.load(tmp_path, LESSON)
    assert [store.find("q1", f"answer {n}", "r1").points for n in told] == [n % 3 for n in told]
