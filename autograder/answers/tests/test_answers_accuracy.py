"""Labelled answers are read as they stand, the figures are what they say, and the lanes keep what they promise where they were fitted."""

import json

import pytest

from autograder.answers import accuracy
from autograder.answers.accuracy import Outcome, figures, kappa
from autograder.answers.labelled import read_labelled
from autograder.answers.lanes import FILE, Lanes, shipped_lanes
from autograder.errors import CourseError


@pytest.fixture(scope="module")
def answers(lesson_folder):
    return read_labelled(lesson_folder / "answers.jsonl")


def test_kappa():
    assert kappa([0, 1, 2, 2], [0, 1, 2, 2]) == 1.0
    assert kappa([0, 0, 2, 2], [2, 2, 0, 0]) == -1.0
    assert kappa([0, 2, 0, 2], [0, 0, 2, 2]) == 0.0
    assert kappa([1, 1], [1, 1]) == 1.0


def test_the_labels_of_an_answer_are_those_of_its_pieces(rubric, answers):
    slot = rubric.slots["q1"]
    row = answers[0].model_copy(update={"slot": "q1", "segments": []})
    piece = type(answers[0].segments[0])
    right = piece(text="a", has=["q1.accumulate"], wrong=False)
    taken_back = piece(text="b", denies=["q1.accumulate"], wrong=True)
    veto = piece(text="c", has=["q1.m.fp16_accumulate"], wrong=True)
    gold = lambda *segments: row.model_copy(update={"segments": list(segments)}).gold(slot)
    assert gold(right).links == {"q1.accumulate"} and gold(right).points == 1 and gold(right).wrong is False
    assert gold(right, taken_back).links == frozenset() and gold(right, taken_back).wrong is True
    assert gold(right, veto).veto and gold(right, veto).points == 1
    assert gold(right, piece(text="d")).wrong is None


def test_figures_count_harm_and_what_is_noticed():
    def o(gold, given, released, wrong=False, veto=False, vetoed=False, harm=False):
        return Outcome(gold, given, 2, released, harm, wrong, veto, vetoed)

    f = figures(
        [
            o(2, 2, True),
            o(0, 1, True, harm=True),
            o(2, 2, True, wrong=True),
            o(1, 1, False, wrong=True),
            o(0, 0, True, wrong=True),
            o(2, 1, True, harm=True),
        ]
    )
    assert (f["released"], f["harmed"], f["too_much"]) == (5, 2, 1)
    assert (f["wrong_beside_credit"], f["wrong_noticed"]) == (2, 1)


def test_the_shipped_lanes_keep_their_promise_where_they_were_fitted():
    measured = json.loads(FILE.read_text(encoding="utf-8"))["measured"]["calibration"]
    assert measured["harmed"] <= accuracy.HARM * measured["released"]
    assert measured["wrong_noticed"] >= accuracy.NOTICED * measured["wrong_beside_credit"]
    assert measured["released"] > 0


def test_doubt_grows_with_each_sign_that_something_is_false():
    lanes = shipped_lanes()
    calm = lanes.doubt((0.0, 0.0, 0.0, 0.0))
    assert calm < lanes.most_doubt < lanes.doubt((1.0, 1.0, 1.0, 1.0))


def test_lanes_that_cannot_be_read_are_one_sentence(tmp_path):
    (tmp_path / "lanes.json").write_text('{"weights": 1}')
    for path in (tmp_path / "lanes.json", tmp_path / "none.json"):
        with pytest.raises(CourseError, match="lanes cannot be read"):
            shipped_lanes.__wrapped__(path)
    Lanes(sure=0.7).write(tmp_path / "new.json", why="a test")
    assert shipped_lanes.__wrapped__(tmp_path / "new.json") == Lanes(sure=0.7)


@pytest.mark.parametrize(
    "line, says",
    [
        ("{", "cannot be read"),
        ('{"id": "x"}', "slot: Field required"),
        (
            '{"id":"x","slot":"q1","lang":"zh","writer":"w","split":"dev","segments":[{"text":"a"}]}',
            "split, lang or kind",
        ),
        (
            '{"id":"x","slot":"q1","lang":"zh","writer":"w","split":"train","segments":[{"text":"a","has":["q1.nothing"]}]}',
            "q1.nothing",
        ),
        ('{"id":"x","slot":"q1","lang":"zh","writer":"w","split":"train","segments":[]}', "no segment"),
    ],
)
def test_a_bad_labelled_answer_is_named_by_its_line(tmp_path, rubric, answers, line, says):
    path = tmp_path / "answers.jsonl"
    path.write_text(answers[0].model_dump_json() + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(CourseError, match=says) as e:
        read_labelled(path, rubric)
    assert e.value.where.endswith("answers.jsonl:2")
