import json

import pytest
from typer.testing import CliRunner

from autograder.answers.batch import language_of, read_lines, score_lines
from autograder.answers.score import score_slot
from autograder.commands import score_answers
from autograder.lesson import load_lesson
from autograder.submission.read.released import released

GOOD = {
    "id": "a",
    "question": "Q2",
    "answer": "C 可能是空指针，无条件读取会触发非法地址访问，kernel 失败。多读 M*N 个元素浪费带宽，访存受限的 epilogue 会变慢。",
}
EN = {
    "id": "b",
    "question": "q3",
    "answer": "Fuse elementwise activations: the value is in a register, which saves writing it out and reading it back.",
}
HELD = {"id": "c", "question": "Q2", "answer": "C 里有 NaN 也没关系，因为 NaN 乘以 0 等于 0，不影响结果。"}


@pytest.fixture
def run(tmp_path):
    import typer

    app = typer.Typer()
    app.command()(score_answers.command)

    def go(text, *more, out="out.jsonl"):
        source = tmp_path / "in.jsonl"
        source.write_bytes(text if isinstance(text, bytes) else text.encode())
        result = CliRunner().invoke(app, ["lesson07", str(source), "--out", str(tmp_path / out), *more])
        path = tmp_path / out
        return result, [
            json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()
        ] if path.is_file() else None

    return go


def lines(*items):
    return "".join(json.dumps(i, ensure_ascii=False) + "\n" for i in items)


def test_contract(run):
    result, out = run(lines(GOOD, EN, HELD))
    assert result.exit_code == 0
    assert [set(x) for x in out] == [{"id", "points", "veto", "lane", "links", "reasons"}] * 3
    assert [x["id"] for x in out] == ["a", "b", "c"]
    assert out[0]["points"] == 2 and {x["id"] for x in out[0]["links"]} == {"q2.null", "q2.traffic"}
    assert all(x["quote"] in GOOD["answer"] for x in out[0]["links"])
    assert out[1]["points"] == 1 and out[1]["veto"] is False
    assert out[2]["points"] == 0 and (out[2]["veto"] or out[2]["lane"] == "review")


def test_bad_lines_are_named_and_stop_nobody(run, tmp_path):
    bad = [
        "not json",
        "[1]",
        '{"id": "x"}',
        '{"id": "x", "question": "Q9", "answer": "y"}',
        '{"id": "x", "question": "Q1", "answer": null}',
        '{"id": true, "question": "Q1", "answer": "y"}',
        "[" * 100000,
    ]
    text = lines(GOOD).encode() + b"\n".join(x.encode() for x in bad) + b"\n\xff\xfe\n\n" + lines(EN).encode()
    result, out = run(b"\xef\xbb\xbf" + text)
    assert result.exit_code == 1 and [x["id"] for x in out] == ["a", "b"]
    for number in range(2, 10):
        assert f"in.jsonl:{number}: " in result.stderr
    assert "8 of 10 lines could not be read" in result.stderr


def test_nothing_is_half_written(run, tmp_path, monkeypatch):
    (tmp_path / "out.jsonl").write_text("old\n")

    def broken(*_, **__):
        yield next(real(*_, **__))
        raise RuntimeError("killed")

    from autograder.answers import batch

    real = batch.score_lines
    monkeypatch.setattr(batch, "score_lines", broken)
    source = tmp_path / "in.jsonl"
    source.write_text(lines(GOOD, EN))
    import typer

    app = typer.Typer()
    app.command()(score_answers.command)
    result = CliRunner().invoke(app, ["lesson07", str(source), "--out", str(tmp_path / "out.jsonl")])
    assert isinstance(result.exception, RuntimeError)
    assert (tmp_path / "out.jsonl").read_text() == "old\n" and sorted(p.name for p in tmp_path.iterdir()) == [
        "in.jsonl",
        "out.jsonl",
    ]


@pytest.mark.parametrize("out, says", [("no/such/out.jsonl", "cannot be written")])
def test_a_place_that_cannot_be_written(run, out, says):
    result, _ = run(lines(GOOD), out=out)
    assert result.exit_code != 0 and says in str(result.exception)


def test_the_judge_must_be_set_up(run, monkeypatch):
    monkeypatch.delenv("COURSE_JUDGE_URL", raising=False)
    result, out = run(lines(GOOD), "--judge", "llm")
    assert result.exit_code != 0 and "COURSE_JUDGE_URL" in str(result.exception) and out is None


def test_half_a_surrogate_pair_is_no_crash(run):
    result, out = run(
        '{"id": "s", "question": "Q2", "answer": "\\ud800 C 是空指针，读取会触发非法地址访问\\udfff。"}\n'
    )
    assert result.exit_code == 0 and out[0]["points"] == 1


def test_processes_give_the_same_as_one(lesson_folder, rubric, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text(lines(GOOD, EN, HELD), encoding="utf-8")
    todo = read_lines(source, rubric)
    path = lesson_folder / "rubric.yml"
    assert list(score_lines(todo, path, jobs=2)) == list(score_lines(todo, path, jobs=1))


def test_a_paragraph_of_the_lesson_waits_for_a_person(run, lesson_folder, rubric):
    pages = released(load_lesson(lesson_folder))
    paragraph = next(p for p in pages["zh"].text.split("\n\n") if "early cast" in p and "没有上界" in p)
    assert score_slot("q1", rubric, paragraph, "zh").points
    result, out = run(
        lines({"id": "p", "question": "Q1", "answer": paragraph}, {"id": "o", "question": "Q3", "answer": EN["answer"]})
    )
    assert out[0]["lane"] == "review" and "copied from the lesson" in " ".join(out[0]["reasons"])
    assert not any("copied" in r for r in out[1]["reasons"])


def test_language():
    assert (
        language_of("beta=0 时 C 可能是空指针") == "zh"
        and language_of("C may be null") == "en"
        and language_of("") == "en"
    )
