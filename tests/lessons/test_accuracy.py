"""Each lesson's published accuracy is what the reader gives today, and its labelled answers are enough to say so."""

import hashlib
import json

import pytest

from autograder.answers import accuracy
from autograder.answers.labelled import read_labelled
from tests.lessons.lessons import EACH_LESSON, lesson

SAMPLE = "lesson03_async_barriers"  # read anew in `make test`; all of them in `make test-all`


@EACH_LESSON
def test_enough_labelled_answers_by_enough_writers(slug):
    own = lesson(slug)
    rows = read_labelled(own.folder / "answers.jsonl", own.rubric)
    assert len({r.id for r in rows}) == len(rows)
    learnt = [r for r in rows if r.split == "train"]
    assert len({r.writer for r in learnt}) >= 4
    assert not {r.writer for r in learnt} & {r.writer for r in rows if r.split == "calibration"}
    wrong = 0
    for name, slot in own.rubric.slots.items():
        mine = [r for r in learnt if r.slot == name]
        golds = [r.gold(slot) for r in mine]
        wrong += sum(bool(g.wrong) for g in golds)
        assert len(mine) >= 150 and {r.lang for r in mine} >= {"zh", "en"}
        assert sum(bool(g.wrong) for g in golds) >= len(golds) / 8, name  # lesson 7's explanations have fewest
        assert {g.points for g in golds} == set(range(slot.points + 1))
        stated = set().union(*(g.links for g in golds))
        assert stated == {x.id for x in slot.links}, name
        for split in ("calibration", "independent"):
            assert any(r.slot == name for r in rows if r.split == split), split
    assert wrong >= len(learnt) / 3


def published(slug) -> dict:
    return json.loads((lesson(slug).folder / "accuracy.json").read_text(encoding="utf-8"))


@EACH_LESSON
def test_the_published_report_is_of_these_answers(slug):
    own, data = lesson(slug), published(slug)
    for name in ("answers.jsonl", "rubric.yml"):
        assert data[name.split(".")[0] + "_sha256"] == hashlib.sha256((own.folder / name).read_bytes()).hexdigest()
    assert (own.folder / "accuracy.md").read_text(encoding="utf-8") == accuracy.page(data)
    assert not any(
        x.id in accuracy.page(data, lang)
        for s in own.rubric.slots.values()
        for x in (*s.links, *s.misconceptions)
        for lang in ("zh", "en")
    )


@pytest.mark.parametrize("slug", [SAMPLE])
def test_the_published_report_is_of_this_code(slug):
    """Fails when answers, reader or code change and the report is not renewed: python -m autograder.answers.accuracy --write."""
    own = lesson(slug)
    measured = json.loads(
        json.dumps(accuracy.report(own.rubric, read_labelled(own.folder / "answers.jsonl", own.rubric)))
    )
    for key, value in measured.items():
        assert published(slug)[key] == value, key


def test_over_all_lessons_the_independent_writers_figures_hold():
    """The floor below which no reader may be published. The aim is higher: see the model card."""
    sets = [published(f.name)["splits"]["independent"]["all"] for f in accuracy.lesson_folders()]
    total = lambda key: sum(s[key] for s in sets)
    assert total("harmed") <= 0.06 * total("released")
    assert total("released") >= 0.3 * total("answers")
    assert total("wrong_noticed") >= 0.85 * total("wrong_beside_credit")
    assert total("vetoes_false") <= 0.25 * total(
        "vetoes_raised"
    )  # raised only where a slot earns nothing, so that none changes a pass


@EACH_LESSON
def test_what_must_earn_nothing_is_not_released(slug):
    attacks = published(slug)["attacks"]
    for kind in ("stuffed", "terms_only", "injected"):
        assert attacks[kind]["tried"] and attacks[kind]["released"] == 0, kind
    assert (
        attacks["taken_back"]["tried"] >= 20
        and attacks["taken_back"]["released"] <= 0.35 * attacks["taken_back"]["tried"]
    )  # the aim is none: see the model card
