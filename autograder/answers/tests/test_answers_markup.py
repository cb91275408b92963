"""Text that a page may not show plainly is read, and its credit waits for a person; what is crossed out earns nothing; plain markup changes nothing."""

import time

import pytest

from autograder.answers import markup
from autograder.answers.gate import gate
from autograder.answers.normalise import normalise
from autograder.answers.score import score_slot

RIGHT = "beta 为 0 时 C 可能是空指针，无条件读取会触发非法地址访问，kernel 失败。C 里若有 NaN，0*NaN 还是 NaN，会污染 D。多读 M*N 个元素浪费带宽，访存受限的 epilogue 会变慢。"

PLAIN = [
    "{}",
    "<b>{}</b>",
    "<ul><li>{}</li></ul>",
    "<details><summary>答案</summary>{}</details>",
    "<p>{}<br></p>",
    "$\\text{{{}}}$",
    "{} 复杂度 $\\mathcal{{O}}(N) \\leq \\lceil N / 32 \\rceil$。",
    '{} <a href="http://a.b" title="t">见此</a>',
    "<table><tr><td colspan=2>{}</td></tr></table>",
    '<font color="blue">{}</font>',
    '<span style="color:#d00; font-weight: bold">{}</span>',
    '<div class="alert alert-block alert-info">{}</div>',
    "{} 其中 vector<float> 与 C:\\Users\\x 不相干。",
]
DRESSED = [
    '<span style="position:absolute;left:-9999px">{}</span>',
    '<span style="opacity:0.01">{}</span>',
    '<span style="transform:scale(0)">{}</span>',
    '<span style="color:#fefefe">{}</span>',
    '<span style="color:snow">{}</span>',
    '<font color="#ffe">{}</font>',
    '<font color="inherit">{}</font>',
    '<span style="color:red;position:fixed">{}</span>',
    '<div class="alert alert-info d-none">{}</div>',
    '<span style="color:hsl(0,0%,100%)">{}</span>',
    '<span style="color:black;background:black">{}</span>',
    '<span style="font-size:2px">{}</span>',
    '<font size="1">{}</font>',
    '<p class="solution">{}</p>',
    '<div aria-hidden="true">{}</div>',
    '<div dir="rtl">{}</div>',
    '<span style="color:#fefefe"><span></span>{}</span>',
    '<span style="color:#fefefe">{}',
    "<svg><desc>{}</desc></svg>",
    "<svg><metadata>{}",
    "<figure>{}</figure>",
    '<input value="{}">',
    "$\\phantom{{\\text{{{}}}}}$",
    "$\\textcolor{{white}}{{\\text{{{}}}}}$",
    "$\\color{{white}} \\text{{{}}}$",
    "$\\def\\x{{{}}}$",
    "$$% {}\n$$",
    "~{}~",
]
STRUCK = [
    '<span style="text-decoration:line-through">{}</span>',
    '<p style="text-decoration: underline line-through">{}</p>',
    "$\\sout{{{}}}$",
    "$\\cancel{{{}}}$",
    "$\\xcancel{{\\text{{{}}}}}$",
    "$\\enclose{{horizontalstrike}}{{{}}}$",
    '<del class="x">{}</del>',
    "<s><b>{}</b></s>",
]


def score(answer, rubric):
    found = score_slot("q2", rubric, answer, "zh")
    assert all(q in answer for q in (*(x.quote for x in found.links), *found.discarded))
    return found


@pytest.mark.parametrize("frame", PLAIN)
def test_plain_markup_changes_nothing(rubric, frame):
    answer = frame.format(RIGHT)
    assert markup.dressed(answer) == [] and markup.struck(answer) == [] and gate(answer).review == []
    assert score(answer, rubric).points == score(RIGHT, rubric).points == 2


@pytest.mark.parametrize("frame", DRESSED)
def test_what_a_page_may_not_show_is_not_released(rubric, frame):
    answer = frame.format(RIGHT)
    assert "styled_text" in gate(answer).review
    assert score(answer, rubric).lane == "review"
    idle = score(frame.format("今天天气不错，我去了图书馆。"), rubric)
    assert idle.points == 0 and idle.lane == "auto"  # it bears on no credit


@pytest.mark.parametrize("frame", STRUCK)
def test_what_is_crossed_out_earns_nothing(rubric, frame):
    found = score(frame.format(RIGHT), rubric)
    assert found.points == 0 and found.links == [] and found.discarded
    assert score(frame.format("C 一定可以读，不会出错。") + "\n" + RIGHT, rubric).points == 2


def test_a_stroke_through_every_letter_crosses_out(rubric):
    assert score("".join(c + "\u0336" for c in RIGHT), rubric).points == 0


@pytest.mark.parametrize(
    "definition", ['[ref]: http://a "{}"', "[a]: <http://x> '{}'", '[a]: http://x\n"{}"', "[//]: # ({})"]
)
def test_the_definition_of_a_link_stands_on_no_page(rubric, definition):
    answer = definition.format(RIGHT)
    found = score(answer, rubric)
    assert found.points == 0 and found.lane == "review" and answer in found.discarded


TITLE = RIGHT.replace("空指针", "空指针 (null)").replace("D。", "D (也是 NaN)。")
TITLED = [
    '[x](http://a.b "{}")',
    "[x](<http://a.b> '{}')",
    '[x]("{}")',
    "[x](u\n'{}'\n)",
    '[[x] y](#a_(b) "{}")',
    "[x](<{}>)",
    "[x][{}]\n\n[{}]: http://a.b",
]


@pytest.mark.parametrize("link", TITLED)
def test_where_a_link_leads_and_its_title_stand_on_no_page(rubric, link):
    """A title shows while a mouse rests on the link, if at all; a person hears of one as long as an answer."""
    found = score(link.replace("{}", TITLE), rubric)
    assert found.points == 0 and found.lane == "review" and found.discarded


@pytest.mark.parametrize("picture", ['![x](u.png "{}")', "![{}](u.png)", "![[{}] x](<u> 'y')", '[![x](u "{}")](v)'])
def test_neither_do_a_pictures_words(rubric, picture):
    assert score(picture.replace("{}", TITLE), rubric).points == 0


@pytest.mark.parametrize(
    "shown",
    [
        '{} [见](http://a.b "官方文档 (CUDA)")',
        '[{}](u "t")',
        '[x](u) ("{}")',
        '[见](u "t") 说 "{}" (自己的 "话")',
        "{} 见 [a][b]、[1] 与 M[i](j)",
    ],
)
def test_what_stands_beside_a_link_is_read(rubric, shown):
    found = score(shown.replace("{}", TITLE), rubric)
    assert found.points == score(TITLE, rubric).points == 2  # words of his own around it may be for a person
    assert found.discarded == []


def test_a_line_with_a_label_is_no_definition():
    assert "空指针" in normalise("[1]: C 可能是空指针，会报错。").text


def test_markup_without_end_takes_no_time():
    start = time.perf_counter()
    for piece in (
        "<p ",
        "<b hidden ",
        "<a x=",
        "<span style='",
        "{\\a",
        "\\sout{",
        "$",
        "~a",
        "[a](b",
        "[a",
        "](",
        '[a](u "',
        "[a](u (",
        "[a][b]",
        "&amp;",
        "<p>",
        "<!--",
    ):
        text = (piece * 8000)[:8000]
        normalise(text), markup.dressed(text), markup.struck(text)
    assert time.perf_counter() - start < 8
