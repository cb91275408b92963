"""The reader's own promises: the same result in any company and under any library's choice of code, and one sentence where it cannot be loaded."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from autograder.answers.accuracy import read_all
from autograder.answers.items import WRONG, items_of
from autograder.answers.labelled import read_labelled
from autograder.answers.lanes import shipped_lanes
from autograder.answers.score import CREDIT, Scorer, conclude, score_slot, scorer
from autograder.answers.tokens import shipped as vocabulary
from autograder.answers.verifier import MODEL, NOISE, Verifier, shipped
from autograder.errors import CourseError

SOME = 24


@pytest.fixture(scope="module")
def some(lesson_folder, rubric):
    rows = [r for r in read_labelled(lesson_folder / "answers.jsonl", rubric) if r.split != "train"]
    return rows[:: max(1, len(rows) // SOME)]


def test_an_answer_reads_the_same_alone_and_behind_others(rubric, some):
    v = Verifier()
    alone = {r.id: v.read(v.ask(rubric.slots[r.slot]), r.answer) for r in some[:4]}
    asked = {name: v.ask(slot) for name, slot in rubric.slots.items()}
    for r in reversed(some):
        seen = v.read(asked[r.slot], r.answer)
        for item, was in alone.get(r.id, {}).items():
            assert (seen[item].present, seen[item].contradicted) == (was.present, was.contradicted)
            assert np.array_equal(seen[item].marks, was.marks)


def test_no_released_point_depends_on_the_last_bits(rubric, some):
    """Between processors a probability moves by less than NOISE: what is released keeps its points wherever each moves by that."""
    lanes = shipped_lanes()
    for read in read_all(rubric, some):
        a = read.assessment
        before = conclude(a, rubric, read.row.answer, "en", lanes).score
        if before.lane != "auto":
            continue
        for by in (-NOISE, NOISE):
            moved = tuple(
                type(e)(e.id, min(1.0, max(0.0, e.present + by)), e.contradicted, e.mark, e.span) for e in a.links
            )
            after = conclude(replace(a, links=moved), rubric, read.row.answer, "en", lanes).score
            assert after.points == before.points


_SCRIPT = """
import json, sys
from autograder.answers.labelled import read_labelled
from autograder.answers.score import score_slot
from autograder.lesson import find_lesson
from autograder.lesson.rubric import load_rubric
folder = find_lesson("lesson07"); rubric = load_rubric(folder / "rubric.yml"); wanted = set(sys.argv[1].split(","))
rows = [r for r in read_labelled(folder / "answers.jsonl") if r.id in wanted]
out = {r.id: score_slot(r.slot, rubric, r.answer, "en") for r in rows}
print(json.dumps({i: [s.points, s.lane, sorted(x.id for x in s.links), s.reasons] for i, s in out.items()}))
"""


@pytest.mark.parametrize("core", ["Haswell", "Zen", "SkylakeX", "Prescott"])
def test_scores_do_not_depend_on_the_linear_algebra_librarys_choice(rubric, some, core):
    """An earlier encoder gave other vectors with Haswell's code than with SkylakeX's, so one student's points hung on another's."""
    rows = some[:8]
    here = {r.id: score_slot(r.slot, rubric, r.answer, "en") for r in rows}
    env = {**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, ",".join(here)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    there = json.loads(done.stdout)
    assert there == {i: [s.points, s.lane, sorted(x.id for x in s.links), s.reasons] for i, s in here.items()}


def test_an_answer_is_read_once(rubric, monkeypatch):
    ready = Scorer(rubric)
    ready.warm()
    read, count = ready.verifier.read, []
    monkeypatch.setattr(ready.verifier, "read", lambda *args: count.append(1) or read(*args))
    answer = "C 没有初始化，可能是 NaN，0 乘 NaN 还是 NaN，D 就被污染了。"
    first = ready.assess("q2", answer)
    assert ready.assess("q2", answer) is first and len(count) == 1
    assert (
        ready.assess("q3", answer) is not first
        and ready.assess("q2", answer, "a page") is not first
        and len(count) == 3
    )


def test_every_item_of_the_rubric_is_read_and_nothing_else(rubric):
    for slot in rubric.slots.values():
        ids = [i.id for i in items_of(slot)]
        assert ids == [*(x.id for x in slot.links), *(m.id for m in slot.misconceptions), WRONG]
        assert set(shipped().read(shipped().ask(slot), "ok")) == set(ids)


def test_marks_stand_at_the_words_that_state_the_link(rubric):
    idle = "今天下午我先把讲义又读了一遍。"
    link = "没有初始化的内存里可能是 nan，0 乘 nan 还是 nan，于是 d 被污染，后面的层都坏了。"
    seen = scorer(rubric).assess("q2", idle + link)
    found = next(e for e in seen.links if e.id == "q2.nan")
    assert found.present >= CREDIT and seen.gate.normal.quote(found.span.start, found.span.end).startswith("没有初始化")


def test_a_long_text_is_read_to_its_end(rubric):
    link = "没有初始化的内存里可能是 nan，0 乘 nan 还是 nan，于是 d 被污染，后面的层都坏了。"
    filler = "".join(f"第{n}段讲的是别的事情，和这个问题没有关系，我就不多写了。" for n in range(60))
    seen = shipped().read(shipped().ask(rubric.slots["q2"]), filler + link)
    assert len(vocabulary()(filler).ids) > 700 and seen["q2.nan"].present >= CREDIT
    assert seen["q2.nan"].marks[len(filler) :].max() > seen["q2.nan"].marks[: len(filler) // 2].max()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "。",
        "a" * 3000,
        "def f(x):\n    return x\n" * 40,
        "| a | b |\n|---|---|\n" * 50,
        "Это ответ по-русски.",
        "\U0001f600" * 500,
        "\ud800",
    ],
)
def test_any_text_can_be_read(rubric, text):
    score = score_slot("q2", rubric, text, "zh")
    assert score.points == 0 or score.lane == "review"


def test_a_hundred_thousand_characters_wait_for_a_person(rubric):
    assert score_slot("q2", rubric, "没有初始化的 C 里可能有 NaN，0*NaN 还是 NaN。" * 4000, "zh").lane == "review"


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(MODEL, tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["reader.onnx", "words.npz", "vocabulary.json", "reader.json"])
def test_a_missing_file_is_named_and_its_remedy(copy, name):
    (copy / name).unlink()
    with pytest.raises(CourseError, match="cannot be read") as e:
        Verifier(copy)
    assert name in e.value.where and "git checkout" in e.value.remedy


@pytest.mark.parametrize("name", ["reader.onnx", "words.npz", "vocabulary.json"])
def test_a_damaged_file_is_named(copy, name):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(CourseError, match=f"{name} is damaged"):
        Verifier(copy)


def test_a_graph_that_this_onnxruntime_cannot_run_is_one_sentence(copy):
    import hashlib

    (copy / "reader.onnx").write_bytes(b"no graph")
    told = json.loads((copy / "reader.json").read_text())
    told["sha256"]["reader.onnx"] = hashlib.sha256(b"no graph").hexdigest()
    (copy / "reader.json").write_text(json.dumps(told))
    with pytest.raises(CourseError, match="cannot run the reader"):
        Verifier(copy)


def test_what_training_repeats_is_what_grading_has():
    """Training runs on a machine without the grader's libraries, so four constants stand twice."""
    from autograder.answers import verifier
    from autograder.answers.training import batches, material

    assert (batches.ITEM, batches.ANSWER) == (verifier._ITEM, verifier._ANSWER) and material.WRONG == WRONG
    source = (verifier.MODEL.parent / "training" / "train.py").read_text(encoding="utf-8")
    assert f"smooth = {verifier.SMOOTHED}" in source
