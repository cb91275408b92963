"""Each lesson's published accuracy is what the scorer gives today, and its labelled answers are enough to say so."""

import hashlib
import json

from autograder.answers import accuracy, probes
from autograder.answers.score import points_for
from tests.lessons.lessons import EACH_LESSON, lesson

CATEGORIES = {"full", "partial", "terms_only", "misconception", "negated", "stuffed", "injected", "off_topic"}
LEAST = {"explanation": 24, "q1": 40, "q2": 40, "q3": 40}


@EACH_LESSON
def test_enough_labelled_answers_of_every_kind(slug):
    own = lesson(slug)
    answers = accuracy.read_answers(own.folder / "answers.jsonl")
    assert len({i["id"] for i in answers}) == len(answers)
    for slot, least in LEAST.items():
        mine = [i for i in answers if i["slot"] == slot]
        assert len(mine) >= least and {i["lang"] for i in mine} == {"zh", "en"} and {"dev", "test"} <= {i["split"] for i in mine}
        assert len({i["category"] for i in mine}) >= 6
    assert {i["category"] for i in answers} == CATEGORIES
    assert [i["id"] for i in answers if i["points"] != points_for(own.rubric.slots[i["slot"]], set(i["links"]))] == []


@EACH_LESSON
def test_the_published_report_is_of_this_code(slug):
    """Fails when rules, answers or code change and the report is not renewed: python -m autograder.answers.accuracy LESSON --write."""
    own = lesson(slug)
    published = json.loads((own.folder / "accuracy.json").read_text(encoding="utf-8"))
    answers = accuracy.read_answers(own.folder / "answers.jsonl")
    measured = json.loads(json.dumps(accuracy.report(own.rubric, answers)))
    for split in measured["splits"]:
        assert measured["splits"][split] == published["splits"][split], split
    assert set(measured["splits"]) == set(published["splits"]) and measured["auto_threshold"] == published["auto_threshold"]
    assert published["answers_sha256"] == hashlib.sha256((own.folder / "answers.jsonl").read_bytes()).hexdigest()
    readings = json.loads((own.folder / "accuracy_readings.json").read_text(encoding="utf-8"))
    assert (own.folder / "accuracy.md").read_text(encoding="utf-8") == accuracy.page(published, readings)
    assert readings, "what the scorer made of new answers when it read them first is kept"


@EACH_LESSON
def test_what_is_released_is_right_on_the_answers_the_rules_were_made_on(slug):
    dev = json.loads((lesson(slug).folder / "accuracy.json").read_text(encoding="utf-8"))["splits"]["dev"]
    assert dev["vetoes_false"] == 0 and dev["credited_nothing_due_auto"] == 0
    assert dev["auto_error"] is None or dev["auto_error"] <= 0.02
    assert dev["auto_share"] >= 0.3


@EACH_LESSON
def test_most_answers_that_are_taken_back_wait_for_a_person(slug):
    probes = json.loads((lesson(slug).folder / "accuracy.json").read_text(encoding="utf-8"))["probes"]
    assert probes["taken_back"]["tried"] >= 20 and probes["taken_back"]["released"] <= 0.15 * probes["taken_back"]["tried"]


def test_the_published_probes_are_of_this_code():
    """Of one lesson; the others' are made by the same command."""
    own = lesson("lesson08_kernel_selection")
    published = json.loads((own.folder / "accuracy.json").read_text(encoding="utf-8"))["probes"]
    assert probes.measure(own.rubric, accuracy.read_answers(own.folder / "answers.jsonl")) == published
