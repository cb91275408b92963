"""The pieces that make a page, each by itself."""

import pytest

from autograder.errors import CourseError
from autograder.site import controls, diagrams, head, lean, pictures, search, terms, weave

PAGE = (
    '<html><body><main id="m"><h1 class="title">A phase</h1><p>The phase and the <code>phase</code> of a Stage; phases.</p>'
    '<p>A <a href="x">stage</a>, then a stage.</p></main></body></html>'
)


def _terms():
    return [
        terms.Term("term-phase", ("phase", "相位"), "phase: a bit"),
        terms.Term("term-stage", ("stage",), "stage: one buffer"),
    ]


def test_only_the_first_use_of_a_term_in_running_text_is_linked():
    page = terms.linked(PAGE, _terms(), "../g.html")
    assert page.count('class="term"') == 2
    assert "<code>phase</code>" in page and '<h1 class="title">A phase</h1>' in page
    assert 'The <a class="term" href="../g.html#term-phase" data-term="term-phase">phase</a> and' in page
    assert ">Stage</a>; phases." in page  # a longer word is another word


def test_a_chinese_term_needs_no_space_around_it():
    page = terms.linked("<main><p>翻转相位之后</p></main>", _terms(), "g")
    assert '翻转<a class="term"' in page and ">相位</a>之后" in page


def test_the_glossary_is_read_with_all_names_of_an_entry(tmp_path):
    (tmp_path / "glossary").mkdir()
    (tmp_path / "glossary" / "zh.qmd").write_text(
        "- **早转换，晚转换**（early cast）：先舍入。[第 7 课](../lesson07/zh.qmd)。\n"
    )
    (term,) = terms.read_terms(tmp_path, "zh")
    assert term.names == ("早转换", "晚转换") and term.shown == "早转换，晚转换（early cast）：先舍入。第 7 课。"


def test_text_is_changed_and_markup_is_not():
    body = '<p title="a">a<br>a</p><pre>a</pre><div class="math">a<span>a</span></div>a'
    import re

    shown = weave.over_text(body, str.upper, frozenset({"pre"}), re.compile('class="math"'))
    assert shown == '<p title="a">A<br>A</p><pre>a</pre><div class="math">a<span>a</span></div>A'


@pytest.mark.parametrize(
    "css,kept",
    [
        (".a{x:1}.b{x:2}", ".a{x:1}"),
        (".a,.b{x:1}", ".a{x:1}"),
        ("p,.b p{x:1}", "p{x:1}"),
        ("@media (min-width:1px){.a{x:1}.b{x:2}}", "@media (min-width:1px){.a{x:1}}"),
        ("@media print{.b{x:2}}.a{x:1}", ".a{x:1}"),
        (".a:is(.a,.b){x:1}", ""),
        ('.a::before{content:"}"}.b{x:1}', '.a::before{content:"}"}'),
        ('@charset "UTF-8";.b{x:1}@keyframes k{from{x:0}to{x:1}}', '@charset "UTF-8";@keyframes k{from{x:0}to{x:1}}'),
        (
            ":root{--c:url(\"data:image/svg+xml,<svg fill='.b'/>\")}",
            ":root{--c:url(\"data:image/svg+xml,<svg fill='.b'/>\")}",
        ),
    ],
)
def test_rules_of_classes_that_no_page_has_are_left_out(css, kept):
    assert lean.used_rules(css, {"a"}) == kept


def test_the_smallest_text_decides_how_narrow_a_picture_may_be():
    svg = '<svg viewBox="0 0 600 300"><text style="font: 10px x"/><text style="font: italic 8px x"/></svg>'
    assert pictures.least_width(svg) == 900
    assert pictures.least_width('<svg viewBox="0 0 600 300"/>') == 0


def test_a_picture_is_told_by_its_own_words_where_the_page_has_none(tmp_path):
    (tmp_path / "p.svg").write_text('<svg viewBox="0 0 60 30"><title>A &lt; B</title><desc>Bars.</desc></svg>')
    words = {"zoom": "Enlarge", "cell_picture": "what the cell draws"}
    page = pictures.dress('<img src="p.svg"><img alt="mine" src="p.svg"><img src="gone.svg">', tmp_path, words)
    assert 'alt="A &lt; B. Bars"' in page and 'alt="mine"' in page and page.endswith('<img src="gone.svg">')


@pytest.mark.parametrize(
    "source,words",
    [
        ('flowchart LR\n  A["one<br/>two"] -->|why| B{"three"} --> C\n', "one two → three (why); three → C."),
        ('flowchart TB\n  A["x"] -.->|"B = 0"| B["y"]\n  A -. says .-> B\n', "x → y (B = 0); x → y (says)."),
        (
            "sequenceDiagram\n  participant P as producer\n  P->>F: 512 bytes\n  F-->>P: done\n",
            "producer → F (512 bytes); F → producer (done).",
        ),
        ("stateDiagram-v2\n  [*] --> p0: init\n", "· → p0 (init)."),
    ],
)
def test_a_diagram_in_words(source, words):
    assert diagrams.in_words(source) == words


def test_a_diagram_that_is_not_drawn_stays_readable_and_is_told(tmp_path):
    told = []
    page = diagrams.drawn(
        "a\n\n```{mermaid}\nflowchart LR\n  A --> B\n```\n\nb\n", tmp_path, {"diagram": "Diagram:"}, told.append
    )
    assert "A --> B" in page and "```{mermaid}" not in page and len(told) == 1


def test_a_control_that_is_not_there_is_an_error_with_what_there_is(tmp_path):
    with pytest.raises(CourseError, match="no control rooflin") as told:
        controls.control("rooflin", tmp_path, {"control": ""}, "en.qmd:7")
    assert "roofline" in told.value.remedy and told.value.where == "en.qmd:7"


@pytest.mark.parametrize(
    "given,said", [({"binder": "x"}, "names binder"), ({"colab": "https://x/{path}"}, "address of colab")]
)
def test_a_wrong_service_is_told(given, said):
    with pytest.raises(CourseError, match=said):
        head.services({"course-links": given}, "en", "lesson01")


def test_services_without_an_address_are_not_shown():
    config = {"course-links": {"colab": "https://c/{lang}/{lesson}.ipynb", "jupyterhub": ""}}
    assert head.services(config, "zh", "lesson01") == {"colab": "https://c/zh/lesson01.ipynb"}


def test_the_index_has_glossary_pages_sections_and_questions_and_no_latex(tmp_path):
    (tmp_path / "lesson").mkdir()
    (tmp_path / "lesson" / "index.html").write_text(
        '<main><header><h1 class="title">Ring</h1></header><p>Intro <span class="math inline">\\(x^2\\)</span> text.</p>'
        '<svg><text>drawn</text></svg><h2 data-anchor-id="how">How</h2><p>it works</p><h2 data-anchor-id="q">Questions</h2>'
        '<h3 data-anchor-id="q1">Q1</h3><p>Why?</p><h2 data-anchor-id="s">Sources</h2><p>here</p></main>'
    )
    rows = search.index(tmp_path, _terms())
    assert [r[0] for r in rows] == [0, 0, 1, 2, 3, 3, 2]
    assert rows[2] == [1, "lesson/index.html", "Ring", "", "Intro text."]
    assert rows[3][1:4] == ["lesson/index.html#how", "Ring", "How"]
    assert not any("x^2" in r[4] or "drawn" in r[4] for r in rows)


def test_what_a_lesson_asks_for_is_read_from_its_text():
    from autograder.lesson import list_lessons, load_lesson
    from autograder.site.facts import facts
    from autograder.site.kernel_pages import sources

    known = [facts(load_lesson(p), "en", sources()) for p in list_lessons()]
    assert {f.number: f.needs for f in known}[6] == (3, 4, 5) and known[0].needs == ()
    assert all(n < f.number for f in known for n in f.needs)
    assert all(f.kernels for f in known) and {f.minutes for f in known} <= {75, 90, 105}
