"""Quarto's Markdown, rewritten for JupyterLab."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lesson.model import Cell
from autograder.release.divs import parse, parse_attrs
from autograder.release.markdown import render


def convert(text: str, lang: str = "en") -> str:
    return render(parse((Cell("markdown", text, 1),)).children, lang, lambda p: "assets/" + p)


@pytest.mark.parametrize(
    ("quarto", "jupyter"),
    [
        (
            "::: {.callout-note}\nBody\n:::",
            '<div style="border-left:4px solid rgb(2,119,189);background-color:rgba(2,119,189,0.1);padding:0.5em 1em;margin:1em 0">\n\n**ℹ️ Note**\n\nBody\n\n</div>',
        ),
        (
            '::: {.callout-warning title="Mind C"}\nBody\n\nMore\n:::',
            '<div style="border-left:4px solid rgb(217,119,6);background-color:rgba(217,119,6,0.1);padding:0.5em 1em;margin:1em 0">\n\n**⚠️ Mind C**\n\nBody\n\nMore\n\n</div>',
        ),
        (
            "::: {.callout-tip}\n## Head\n\nBody\n:::",
            '<div style="border-left:4px solid rgb(46,125,50);background-color:rgba(46,125,50,0.1);padding:0.5em 1em;margin:1em 0">\n\n**💡 Head**\n\nBody\n\n</div>',
        ),
        (
            "::: {.callout-note}\n$$\na\n+ b\n$$\n:::",
            '<div style="border-left:4px solid rgb(2,119,189);background-color:rgba(2,119,189,0.1);padding:0.5em 1em;margin:1em 0">\n\n**ℹ️ Note**\n\n$$\na\n+ b\n$$\n\n</div>',
        ),
        (
            '::: {.callout-tip collapse="true" title="T"}\nBody\n:::',
            '<div style="border-left:4px solid rgb(46,125,50);background-color:rgba(46,125,50,0.1);padding:0.5em 1em;margin:1em 0"><details>\n<summary><strong>💡 T</strong></summary>\n\nBody\n\n</details></div>',
        ),
        ("::: {.column-margin}\nkept\n:::", "kept"),
        ("::: outer\n:::: {.inner}\nkept\n::::\n:::", "kept"),
        ('::: {.content-visible when-profile="answer"}\nsecret\n:::', ""),
        ('::: {.content-hidden when-format="ipynb"}\nsite only\n:::', ""),
        ('::: {.content-visible when-format="ipynb"}\nhere\n:::', "here"),
        ("## Title {#sec-a .unnumbered}", "## Title"),
        ("# Use of `{x}`", "# Use of `{x}`"),
        ("[text]{.mark} and `[code]{.mark}`", "text and `[code]{.mark}`"),
        ("[x](a.html){.btn}", "[x](a.html)"),
        ("[**next** lesson](../lesson08_kernel_selection/en.qmd#top){.p}", "**next** lesson"),
        ("[terms](../glossary/en.qmd#x){.y}", "[terms](glossary.md#x)"),
        ("![](a.svg)", "![](assets/a.svg)"),
        ('![Figure 1: $x_1$](a.svg){fig-alt="an x" width=50%}', "![an x](assets/a.svg)\n\n*Figure 1: $x_1$*"),
        ("```{mermaid}\na --> b\n```", "```mermaid\na --> b\n```"),
        ('```{.cpp filename="a.cu"}\n::: {.x}\n```', "```cpp\n::: {.x}\n```"),
        (": Times on the H200 {#tbl-a}", "*Times on the H200*"),
        ("$a_{#1}$ stays, [a]{.b} does not", "$a_{#1}$ stays, a does not"),
        ("costs $5 and $6 [a]{.b}", "costs $5 and $6 a"),
        ("before <!-- hidden\n[a]{.b} --> after", "before  after"),
        ("```html\n<!-- kept -->\n```", "```html\n<!-- kept -->\n```"),
    ],
)
def test_rewriting(quarto, jupyter):
    assert convert(quarto) == jupyter


def test_math_is_untouched():
    math = "$\\alpha \\cdot \\mathrm{acc} + \\beta \\cdot C$\n\n$$\nD = \\text{act}\\left(x\\right){.5}\n$$"
    assert convert(math) == math


def test_callout_titles_speak_the_pages_language():
    assert convert("::: {.callout-important}\n正文\n:::", "zh").startswith(
        '<div style="border-left:4px solid rgb(198,40,40);background-color:rgba(198,40,40,0.1);padding:0.5em 1em;margin:1em 0">\n\n**❗ 重点**'
    )


def test_two_cells_of_text_stay_two_paragraphs(tmp_path):
    from autograder.lesson.qmd import read_edition
    from autograder.release.divs import Text

    page = tmp_path / "en.qmd"
    page.write_text("---\ntitle: t\n---\n\n- an item\n\n\n\nA paragraph.\n", encoding="utf-8")
    cells = read_edition(page, "en").cells  # the reader starts a new cell at two blank lines
    tree = parse(cells)
    assert render(tree.children, "en", str).split("\n\n")[-1].strip() == "A paragraph."
    for text in tree.walk():
        assert isinstance(text, Text)
        for n, line in enumerate(text.lines, text.line):
            assert page.read_text().split("\n")[n - 1] == line


def test_attributes():
    attrs = parse_attrs('{#fig-a .b .c key="v w" bare=1}')
    assert (attrs.id, attrs.classes, attrs.values) == ("fig-a", ("b", "c"), {"key": "v w", "bare": "1"})


PLAIN = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="`~:#[]{}<>$!|\\^\x00"),
    min_size=1,
    max_size=20,
)


@given(st.lists(PLAIN, min_size=1, max_size=8))
def test_plain_text_is_not_touched(lines):
    text = "\n\n".join(lines)
    assert convert(text) == text


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=30), max_size=8),
    st.sampled_from(["python", "cpp", "mermaid", ""]),
)
def test_what_stands_in_a_code_fence_is_not_touched(lines, language):
    fenced = "\n".join([f"~~~~~~{language}", *(x for x in lines if not x.strip().startswith("~")), "~~~~~~"])
    assert convert(f"before\n\n{fenced}\n\nafter") == f"before\n\n{fenced}\n\nafter"
