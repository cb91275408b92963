"""Of several notebooks in one hand-in the one that was worked on; where two were, the student is asked."""

from __future__ import annotations

import io
import json
import os
import zipfile

import pytest

from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook
from autograder.release.tests.fixture_lesson import write_lesson
from autograder.submission.read import Unreadable, files, read_hand_in, released
from autograder.submission.read.files import MAX_BOOKS, files_in, unpack


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(write_lesson(tmp_path_factory.mktemp("course")))


def book(lesson, lang="en", **said) -> bytes:
    """The released notebook; said: text of the parts."""
    nb = json.loads(json.dumps(student_notebook(lesson, lang)))
    for cell in nb["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name == "exercise" and name in said:
            cell["source"] = cell["source"].replace("______", said[name])
        elif name in said:
            cell["source"] = said[name]
    return json.dumps(nb, ensure_ascii=False).encode()


def taken(lesson, folder):
    return read_hand_in(lesson, released(lesson), folder)


def put(folder, files: dict[str, bytes]):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


WORK = {"exercise": "step % stages", "q1": "Because the index wraps, the old value stays."}


@pytest.mark.parametrize(
    "beside", ["{slug}.ipynb", "zh/{slug}.ipynb", "{slug}-Copy1.ipynb", "a.ipynb", "old/draft.ipynb"]
)
@pytest.mark.parametrize("mine", ["en/{slug}.ipynb", "{slug}-Copy2.ipynb", "homework.ipynb"])
def test_an_untouched_notebook_beside_it_does_not_matter(lesson, tmp_path, mine, beside):
    for lang in ("zh", "en"):
        put(
            tmp_path,
            {mine.format(slug=lesson.slug): book(lesson, **WORK), beside.format(slug=lesson.slug): book(lesson, lang)},
        )
        hand_in = taken(lesson, tmp_path)
        assert hand_in.data == book(lesson, **WORK) and hand_in.reading.answers["q1"] == WORK["q1"]


def test_a_draft_of_it_beside_it_does_not_matter(lesson, tmp_path):
    put(
        tmp_path,
        {
            f"{lesson.slug}.ipynb": book(lesson, exercise=WORK["exercise"]),
            "final.ipynb": book(lesson, exercise=WORK["exercise"]),
            f"{lesson.slug}-Copy1.ipynb": book(lesson, **WORK),
        },
    )
    assert taken(lesson, tmp_path).reading.answers["q1"] == WORK["q1"]


def test_all_untouched_is_an_empty_hand_in(lesson, tmp_path):
    put(tmp_path, {f"{lesson.slug}.ipynb": book(lesson, "zh"), f"en/{lesson.slug}.ipynb": book(lesson, "en")})
    assert taken(lesson, tmp_path).reading.lang == "zh" and not any(taken(lesson, tmp_path).reading.answers.values())


@pytest.mark.parametrize(
    "other",
    [
        {"exercise": "step"},
        {"q1": "Something else is written here."},
        {"boundary_case": "my_case = dict(step=1, stages=1)\nmy_prediction = 0"},
    ],
)
def test_two_that_were_worked_on_are_for_the_student_to_tell(lesson, tmp_path, other):
    put(
        tmp_path,
        {f"zh/{lesson.slug}.ipynb": book(lesson, "zh", **other), f"en/{lesson.slug}.ipynb": book(lesson, **WORK)},
    )
    with pytest.raises(Unreadable, match="2 notebooks.*exactly one") as told:
        taken(lesson, tmp_path)
    assert f"zh/{lesson.slug}.ipynb" in told.value.why.zh and f"en/{lesson.slug}.ipynb" in told.value.why.en


def test_a_scratch_notebook_yields_to_the_one_with_the_lessons_name(lesson, tmp_path):
    put(
        tmp_path,
        {
            "scratch.ipynb": book(lesson, exercise="step"),
            f"{lesson.slug}.ipynb": book(lesson, **WORK),
            "shopping.ipynb": b'{"cells": [{"cell_type": "markdown", "source": "Milk"}]}',
            "empty.ipynb": b"",
        },
    )
    assert taken(lesson, tmp_path).reading.answers["q1"] == WORK["q1"]


def test_a_damaged_file_of_the_lessons_name_is_not_passed_over(lesson, tmp_path):
    put(
        tmp_path,
        {
            f"{lesson.slug}.ipynb": book(lesson, **WORK)[:-500],
            f"{lesson.slug}-Copy1.ipynb": book(lesson, exercise="step"),
        },
    )
    with pytest.raises(Unreadable, match="2 notebooks"):
        taken(lesson, tmp_path)


def test_zips_are_looked_into_by_the_same_rule(lesson, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in (
            (f"{lesson.slug}/zh/{lesson.slug}.ipynb", book(lesson, "zh")),
            (f"{lesson.slug}/en/{lesson.slug}.ipynb", book(lesson, **WORK)),
            (f"{lesson.slug}/lesson.json", b"{}"),
        ):
            archive.writestr(name, data)
    assert taken(lesson, buffer.getvalue()).reading.lang == "en"
    put(tmp_path, {"all.zip": buffer.getvalue(), "lesson.json": b"{}"})
    assert taken(lesson, tmp_path).reading.lang == "en"


# -- files --------------------------------------------------------------------------------------------------------------------


def test_what_lies_beside_a_notebook_is_no_candidate(lesson, tmp_path):
    beside = {
        "lesson.json": b"{}",
        "requirements.txt": b"numpy",
        "README.md": b"#",
        "x.whl": b"PK\x03\x04",
        "assets/a.svg": b"<svg/>",
        ".ipynb_checkpoints/a.ipynb": b"{}",
        "__MACOSX/._a.ipynb": b"\0",
    }
    put(tmp_path, beside)
    with pytest.raises(Unreadable, match=r"no \.ipynb file in what was handed in \(there is .*lesson.json"):
        files_in(tmp_path)
    put(tmp_path, {"en/work": book(lesson, **WORK)})
    assert [p.name for p in files_in(tmp_path)] == ["work"]
    put(tmp_path, {"en/deep/mine.IPYNB": book(lesson)})
    assert [p.name for p in files_in(tmp_path)] == ["mine.IPYNB"]
    assert [p.name for p in files_in(tmp_path, frozenset({"deep"}))] == ["work"]


def test_links_are_never_followed(lesson, tmp_path):
    put(tmp_path / "other", {"a.ipynb": book(lesson, **WORK)})
    mine = tmp_path / "mine"
    mine.mkdir()
    os.symlink(tmp_path / "other", mine / "en")
    with pytest.raises(Unreadable, match="no .ipynb"):
        files_in(mine)
    os.symlink(tmp_path / "other" / "a.ipynb", mine / "a.ipynb")
    with pytest.raises(Unreadable, match="link"):
        files_in(mine)
    put(mine, {"b.ipynb": book(lesson)})
    assert [p.name for p in files_in(mine)] == ["b.ipynb"]


def test_a_folder_full_of_notebooks_is_refused_before_they_are_read(lesson, tmp_path):
    put(tmp_path, {f"{n}.ipynb": b"{" for n in range(MAX_BOOKS + 1)})
    with pytest.raises(Unreadable, match=f"{MAX_BOOKS + 1} notebooks"):
        read_hand_in(lesson, released(lesson), tmp_path)


def test_one_notebook_among_many_files_is_found(tmp_path, monkeypatch):
    """The list is searched before it is cut, in a folder and in a zip."""
    monkeypatch.setattr(files, "MAX_MEMBERS", 20)
    (tmp_path / "z").mkdir()
    for n in range(50):
        (tmp_path / f"f{n}").touch()
    (tmp_path / "z" / "z.ipynb").write_bytes(b"mine")
    assert [p.name for p in files_in(tmp_path)] == ["z.ipynb"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(tmp_path.rglob("*")):
            archive.write(path, path.name)
    assert unpack(packed.getvalue()) == b"mine"


def test_a_folder_that_was_not_looked_into_is_told(tmp_path):
    deep = tmp_path.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    (deep / "mine.ipynb").write_bytes(b"x")
    with pytest.raises(Unreadable, match="as deep as it was looked into") as told:
        files_in(tmp_path)
    assert "没有看" in told.value.why.zh
