"""Quoted kernel code is the kernel's, and a stated cause has something that decides it."""

from pathlib import Path

import pytest

from autograder.claims.schema import read_causes
from autograder.lesson.qmd import read_edition
from autograder.lint.causes import causal_sentences, lint_causes
from autograder.lint.quotes import lint_quotes

KERNEL = """// a ring
int next(int i) {
  if (BUGGY(late)) return i;
  if (!BUGGY(no_wait)) wait(i);  // the stage
  total += f(i, 2);
  return i + 1 == STAGES ? 0 : i + 1;
}
"""


def quoted(tmp_path: Path, code: str, source: str = "<!-- from kernels/cuda/ring.cu -->\n"):
    (tmp_path / "kernels" / "cuda").mkdir(parents=True)
    (tmp_path / "kernels" / "cuda" / "ring.cu").write_text(KERNEL)
    page = tmp_path / "en.qmd"
    page.write_text(f"---\ntitle: t\n---\n\ntext\n\n{source}```cpp\n{code}\n```\n")
    return [p.what for p in lint_quotes(read_edition(page, "en", {}), tmp_path)]


@pytest.mark.parametrize(
    "code",
    [
        "wait(i);   // another comment\ntotal += f(i,\n           2);",  # blanks, line breaks and comments are the page's
        "int next(int i) {\n  // ...\n  return i + 1 == STAGES ? 0 : i + 1;\n}",  # something left out
        "total += f(i, /* ... */);",
        "int next(int i) { wait(i); total += f(i, 2);",  # without the bugs
    ],
)
def test_what_stands_in_the_file_may_be_quoted(tmp_path, code):
    assert quoted(tmp_path, code) == []


@pytest.mark.parametrize(
    "code",
    [
        "wait(i + 1);",
        "total += f(i, 2);\nwait(i);",  # the wrong order
        "wait(i);\nreturn i + 1 == STAGES ? 0 : i + 1;",  # left out without a sign
        "if (BUGGY(late)) return i;",  # a bug is not the kernel
    ],
)
def test_what_does_not_is_found(tmp_path, code):
    assert len(quoted(tmp_path, code)) == 1


def test_longer_code_names_its_kernel_or_says_that_it_is_a_sketch(tmp_path):
    assert "which kernel" in quoted(tmp_path / "a", "a;\nb;\nc;\nd;", source="")[0]
    assert quoted(tmp_path / "b", "a;\nb;\nc;\nd;", source="<!-- sketch -->\n") == []
    assert quoted(tmp_path / "c", "a;\nb;", source="") == []
    assert "no file" in quoted(tmp_path / "d", "a;", source="<!-- from kernels/cuda/none.cu -->\n")[0]


PAGE = """---
title: t
---

It took {{< var l.time >}}. It was slow because the path was full. Nothing else happened.

Another paragraph has no figure, so nothing is asked of it.
"""


def causes(tmp_path: Path, entry: str, text: str = PAGE):
    page = tmp_path / "en.qmd"
    page.write_text(text)
    (tmp_path / "claims.yml").write_text("claims: {}\n" + entry)
    written = read_edition(page, "en", as_written=True)
    return [p.what for p in lint_causes(written, written, tmp_path)]


ENTRY = 'causes:\n- {zh: "路径已经满了", en: "the path was full", by: %s, how: "one thing changed"}\n'


def test_a_cause_beside_a_figure_needs_a_line(tmp_path):
    assert [s for _, s in causal_sentences(PAGE, "en")] == ["It was slow because the path was full."]
    (said,) = causes(tmp_path, "")
    assert "Nothing says what decides" in said
    assert causes(tmp_path, ENTRY % "experiment") == []


def test_an_unknown_cause_is_said_to_be_unknown(tmp_path):
    (said,) = causes(tmp_path, ENTRY % "unknown")
    assert "does not say so" in said
    text = PAGE.replace("because the path was full", "because, we suspect, the path was full")
    assert causes(tmp_path, ENTRY % "unknown", text) == []


def test_a_line_whose_sentence_is_gone_is_found(tmp_path):
    said = causes(tmp_path, ENTRY % "source", PAGE.replace("because the path was full", "at times"))
    assert said == ["No sentence of en.qmd holds 'the path was full'."]


def test_an_entry_that_is_wrong_is_one_problem(tmp_path):
    (tmp_path / "claims.yml").write_text(
        'claims: {}\ncauses:\n- {zh: "路径满了", en: "the path was full", by: guess, how: "no"}\n'
    )
    found, wrong = read_causes(tmp_path / "claims.yml")
    assert found == [] and len(wrong) == 1 and "by" in wrong[0].what


def test_chinese_sentences_are_seen(tmp_path):
    text = "用了 {{< var l.t >}}，因此偏慢。后面没有。\n"
    assert [s for _, s in causal_sentences(text, "zh")] == ["用了 {{< var l.t >}}，因此偏慢。"]
