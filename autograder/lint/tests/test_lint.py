"""Each thing that can be wrong with a lesson is found, named with its place, and said with a remedy."""

import dataclasses
import re

import pytest

from autograder import cli
from autograder.lint import lint_lesson
from autograder.lint.pair import _compare
from autograder.release.tests.fixture_lesson import SLUG, write_lesson
from kernels.spec import get_spec


@pytest.fixture
def folder(tmp_path):
    return write_lesson(tmp_path)


def change(folder, file, old, new, count=1):
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new, count), encoding="utf-8")


def found(folder):
    return [p.text(folder.parent.parent) for p in lint_lesson(folder)]


def test_a_lesson_in_order_has_no_problem(folder):
    assert found(folder) == []


# (file, old, new, what the message must say: a regular expression with the place)
DEFECTS = [
    (
        "en.qmd",
        "8 points pass.",
        "8 points pass, in 12 ms.",
        r"en\.qmd:\d+: The figure '12 ms' is typed by hand\. Enter it in claims\.yml",
    ),
    (
        "en.qmd",
        'the index of a ring buffer"',
        'the index of a ring buffer, 3x faster"',
        r"en\.qmd:1: The figure '3x' is typed by hand",
    ),
    (
        "en.qmd",
        "8 points pass.",
        "8 points pass, in {{< var lesson42.gone >}}.",
        r"en\.qmd:\d+: There is no claim lesson42\.gone",
    ),
    (
        "en.qmd",
        "8 points pass.",
        "8 points pass, {{< include x >}}.",
        r"en\.qmd:\d+: The shortcode '.*' works in Quarto only",
    ),
    (
        "en.qmd",
        "## Challenge: the same line in the kernel",
        "## Something else",
        r"en\.qmd: The section 'Challenge.*is missing\. Add a heading of level 2",
    ),
    ("zh.qmd", "### 性能与取舍", "### 别的", r"zh\.qmd: The section '性能与取舍' is missing"),
    ("en.qmd", "8 points pass.", "", r"en\.qmd:\d+: The section 'Scoring' is empty"),
    ("en.qmd", "lang: en", "lang: fr", r"en\.qmd:1: .*lang: fr"),
    ("en.qmd", 'title: "Lesson 42: the index of a ring buffer"\n', "", r"has no title"),
    ("en.qmd", "#| course_role: kernel\n", "", r"en\.qmd:\d+: The code cell has no role"),
    ("en.qmd", "course_role: kernel", "course_role: kernal", r"no cell role 'kernal'"),
    ("en.qmd", "return ______", "return ______ + ______", r"exercise has 2 blanks"),
    ("en.qmd", "return ______", 'return "______"', r"blank does not stand where an expression can"),
    (
        "en.qmd",
        "interact(show, stages=(1, 6));",
        "interact(show, stages=(1, 6))",
        r"en\.qmd:\d+: JupyterLab would show the function",
    ),
    ("en.qmd", "my_prediction = ______", "prediction = ______", r"does not set my_prediction"),
    ("en.qmd", 'my_line = "______"', 'my_line = "x"', r"challenge cell has no blank"),
    ("en.qmd", "print(ring_index(5, 3))", "print(ring_index(5, ______))", r"kernel cell holds a blank"),
    ("en.qmd", "assert ring_index(4, 3) == (1, 1)\nassert ring_index(2, 3) == (2, 0)\n", "", r"no visible check"),
    (
        "en.qmd",
        "print(ring_index(5, 3))",
        "print(ring_index(5, 3)",
        r"en\.qmd:\d+: The kernel cell is not valid Python",
    ),
    ("en.qmd", "::: {.answer #q2}\n:::", "", r"answer slot q2 stands on the page 0 times"),
    ("en.qmd", "{.answer #q2}", "{.answer #q4}", r"no answer slot 'q4'"),
    ("en.qmd", '{.content-visible when-profile="answer"}', "{.x}", r"solution would be on the student's page"),
    ("en.qmd", '{.callout-tip collapse="true" title="Reference answer"}', "{.x}", r"reference answer is not folded"),
    (
        "en.qmd",
        "One sentence first.\n",
        "",
        r"en\.qmd:\d+: The callout starts with a heading.*title=\"A heading inside\"",
    ),
    (
        "en.qmd",
        'b["two"]',
        'b["two<br/>+ one"]',
        r"en\.qmd:\d+: The diagram's label 'two<br/>\+ one' reads as a Markdown list",
    ),
    ("en.qmd", "\n- [An article]", "Text\n- [An article]", r"en\.qmd:\d+: The list has no blank line before it"),
    (
        "en.qmd",
        "../glossary/en.qmd",
        "../glossary/no.qmd",
        r"en\.qmd:\d+: The link leads nowhere: \.\./glossary/no\.qmd",
    ),
    ("en.qmd", "../glossary/en.qmd", "../glossary/zh.qmd", r"other language"),
    ("en.qmd", "ring.en.svg", "ring.fr.svg", r"image leads nowhere"),
    ("en.qmd", "ring.en.svg", "ring.zh.svg", r"figure ring\.zh\.svg is the other language's"),
    (
        "en.qmd",
        '![Figure 42-1: `stages`](ring.en.svg){#fig-ring width="80%" fig-alt="a ring"}',
        "",
        r"figure ring\.svg is on the other edition's page only",
    ),
    (
        "en.qmd",
        '![Figure 42-1: `stages`](ring.en.svg){#fig-ring width="80%" fig-alt="a ring"}',
        "![](ring.en.svg)",
        r"no alternative text",
    ),
    ("en.qmd", "8 points pass.", "See @fig-ring.", r"cross-reference @fig-ring works in Quarto only"),
    ("en.qmd", "8 points pass.", "{{< include x >}}", r"shortcode"),
    ("en.qmd", "- [An article]", "[An article]", r"names no source"),
    ("en.qmd", "s % 3 for s", "s % 4 for s", r"experiment cell is another program than in en\.qmd:\d+: 3 and 4"),
    (
        "en.qmd",
        "```{python}\n#| course_role: challenge",
        "```{python}\n#| course_role: experiment\n1\n```\n\n```{python}\n#| course_role: challenge",
        r"cells are not in step",
    ),
    ("en.qmd", "```{mermaid}", "````{mermaid}", r"code fence is never closed"),
    ("en.qmd", "::: {.answer #q3}\n:::", "::: {.answer #q3}", r"div is never closed"),
    ("rubric.yml", "lesson: " + SLUG, "lesson: lesson41", r"rubric\.yml:1: The rubric names the lesson lesson41"),
    ("rubric.yml", "kind: tradeoff", "kind: mechanism", r"No link of Q1 to Q3 is a performance trade-off"),
    (
        "rubric.yml",
        "look at the remainder",
        "it is (step % stages, step // stages % 2)",
        r"en hint 1 gives the full answer away",
    ),
    ("rubric.yml", "return (step % stages, step // stages % 2)", "return something", r"hint 4 is not the full answer"),
    (
        "reference.yml",
        "reference answer q2: secret",
        "another text",
        r"reference answer of q2 is not that of reference\.yml",
    ),
    (
        "reference.yml",
        "q2: {",
        "q9: {",
        r"reference\.yml: The rubric does not fit its schema: slots\.q2\.reference: Field required",
    ),
    ("rubric.yml", "id: q3.flip", "id: q2.flip", r"link q2\.flip stands in two slots"),
    ("rubric.yml", "slots:", "slots: [", r"rubric\.yml: rubric\.yml is not valid YAML"),
    ("rubric.yml", "full: 1", "full: 9", r"does not fit its schema: slots\.explanation"),
    (
        "rubric.yml",
        "the index wraps -> the phase bit flips ->",
        "the index wraps and the phase bit flips ->",
        r"a link has three parts",
    ),
    (
        "answers.jsonl",
        '"q1.flip"',
        '"q1.flop"',
        r"answers\.jsonl:\d+: The label names ids that the rubric's slot q1 does not have: q1\.flop",
    ),
    ("answers.jsonl", '"slot": "q1"', '"slot": "q9"', r"no slot 'q9'"),
    (
        "answers.jsonl",
        '"wrong": false',
        '"wrong": "perhaps"',
        r"answers\.jsonl:\d+: The line is no labelled answer: segments\.0\.wrong",
    ),
    (
        "answers.jsonl",
        '"writer": "fixture", ',
        "",
        r"answers\.jsonl:\d+: The line is no labelled answer: writer: Field required",
    ),
    ("answers.jsonl", '"slot": "q1"', '"slot": "q1", "category": "full"', r"no labelled answer: category"),
    ("answers.jsonl", '"lang": "en"', '"lang": "fr"', r"split, lang or kind is none of those known: train, fr"),
    ("answers.jsonl", '"split": "calibration"', '"split": "train"', r"All answers for \w+ are learnt from"),
    ("answers.jsonl", '"id": "q1-en-train"', '"id": "q1-zh-train"', r"The id q1-zh-train stands here twice"),
    (
        "en.qmd",
        "print(ring_index(5, 3))",
        "import kernels\nkernels.load('ring_pipelin')",
        r"en\.qmd:\d+: There is no kernel named 'ring_pipelin'\. Name one that `course run` lists",
    ),
    (
        "en.qmd",
        'my_line = "______"',
        'my_line = "______"\nchallenge("gemm_naive", my_line)',
        r"en\.qmd:\d+: The kernel gemm_naive has no challenge line\. Put the line between .* in kernels/cuda/gemm_naive\.cu",
    ),
    (
        "checks.py",
        "return (step % stages, step // stages % 2)",
        "return (step % stages, 0)",
        r"hidden (normal|boundary) case",
    ),
    ("checks.py", 'return args.get("stages") == 1', "return False", r"is_boundary says no to every boundary case"),
    ("checks.py", 'return args.get("stages") == 1', "return True", r"is_boundary calls the normal case"),
    ("checks.py", 'return args.get("stages") == 1', "return args['x']", r"is_boundary does not run: KeyError"),
    (
        "checks.py",
        "def reference(step, stages)",
        "def reference(step, stages=1, *, more=0)",
        r"exercise's parameters are step, stages, the reference's are",
    ),
    ("checks.py", '"args"', '"arg"', r"malformed: unknown keys \['arg'\]"),
    ("checks.py", '"rtol"', '"expects": 1, "rtol"', r"malformed: unknown keys"),
    ("checks.py", 'FUNCTION = "ring_index"', 'FUNCTION = "ring"', r"does not define ring"),
    (
        "checks.py",
        "def normal_cases",
        "import autograder\ndef normal_cases",
        r"checks\.py:\d+: The checks import autograder",
    ),
    ("checks.py", "int(rng.integers(100, 10_000))", "1 // 0", r"normal_cases does not run: ZeroDivisionError"),
    ("checks.py", "def is_boundary", "def is_boundry", r"lack is_boundary"),
    (
        "checks.py",
        "return known + [",
        "return [",
        r"The wrong fill `.*` only fails where the drawn cases happen to catch it\. Add a case that stays the same in every draw",
    ),
    ("checks.py", "(20011, 7), ", "", r"The wrong fill `.*min\(step, 4096\).*` passes every hidden check"),
    (
        "checks.py",
        'RANGES = {"step": (0, 40_000), "stages": (1, 7)}',
        "",
        r"RANGES is missing or empty\. Give for each name",
    ),
    (
        "checks.py",
        "\nRANGES",
        '\nEQUIVALENT_FILLS = ["(0, step)"]\nRANGES',
        r"EQUIVALENT_FILLS gives no reasons\. Make it a dict",
    ),
    (
        "checks.py",
        "\nRANGES",
        '\nEQUIVALENT_FILLS = {"(step % stages, 0)": "hopeful"}\nRANGES',
        r"`\(step % stages, 0\)` of EQUIVALENT_FILLS fails a hidden check",
    ),
    (
        "checks.py",
        'return args.get("stages") == 1',
        'return args.get("stages") == 1 or args == {"step": 4, "stages": 3}',
        r"is_boundary accepts the input of the visible `ring_index\(4, 3\)`\. Let it say no",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), DEFECTS, ids=[f"{n:02d}" for n in range(len(DEFECTS))])
def test_every_defect_is_found_with_place_and_remedy(folder, file, old, new, message):
    change(folder, file, old, new)
    problems = found(folder)
    assert any(re.search(message, p) for p in problems), "\n".join(problems) or "no problem found"
    for p in problems:
        assert re.match(r"lessons/[\w/.]+(:\d+)?: [A-Za-z]\S* .+[.)] \S", p), p  # place, a sentence, a remedy


def test_a_section_out_of_order_is_named_with_its_place(folder):
    text = (folder / "en.qmd").read_text(encoding="utf-8")
    scoring = text[text.index("## Scoring") : text.index(":::: {.content-visible")]
    (folder / "en.qmd").write_text(
        text.replace(scoring, "").replace("## Exercise", scoring + "## Exercise"), encoding="utf-8"
    )
    assert any("'Scoring' stands too early" in p and "after the section 'Q3'" in p for p in found(folder))


def test_a_solution_that_is_not_the_exercise_filled_in(folder):
    for lang in ("zh", "en"):
        change(folder, f"{lang}.qmd", "    return (step", "    step = step\n    return (step")
    assert any("not the exercise with the blank filled in" in p for p in found(folder))


def test_weak_hidden_checks_are_shown_the_wrong_fill_that_passes(folder):
    change(folder, "checks.py", "return known + [", "return [")
    change(folder, "checks.py", ', _case("另一个", "another", 31337, 4), _case("奇数级", "odd stages", 10, 5)]', "]")
    change(
        folder,
        "checks.py",
        'return [_case("只有一级", "one stage only", 5, 1), _case("第零步", "step zero", 0, 6)]',
        'return [_case("只有一级", "one stage only", 5, 1)]',
    )
    change(folder, "checks.py", "int(rng.integers(100, 10_000)), 7", "7, 7")
    assert any(re.search(r"The wrong fill `.*` passes every hidden check", p) for p in found(folder))


def test_all_problems_are_reported_at_once(folder):
    change(folder, "en.qmd", "## Challenge: the same line in the kernel", "## Something else")
    change(folder, "rubric.yml", "kind: tradeoff", "kind: mechanism")
    change(folder, "checks.py", 'return args.get("stages") == 1', "return False")
    (folder / "zh.qmd").unlink()
    files = {p.file.name for p in lint_lesson(folder)}
    assert files == {
        "en.qmd",
        "zh.qmd",
        "rubric.yml",
        "checks.py",
        "accuracy.json",
    }  # which was measured with another rubric


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("print('你好', x)", "print('hello there', x)", True),
        ("f(act='relu')", "f(act='gelu')", False),
        ("print(f'{a} 组中 {b} 组')", "print(f'{b} of {a} inputs')", True),
        ("print(f'{a} 组')", "print(f'{b} inputs')", False),
        ("x = 1  # 注释", "x = 1  # comment", True),
        ("x = 1", "y = 1", False),
        ("f(x, y)", "f(x)", False),
        ("d = {'早': 1}", "d = {'early cast': 1}", True),
    ],
)
def test_two_editions_are_one_program(a, b, same):
    import ast

    assert (_compare(ast.parse(a), ast.parse(b)) == "") is same


def test_the_command_says_all_and_exits_with_1(folder, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_ROOT", str(folder.parent.parent))
    with pytest.raises(SystemExit) as e:
        cli.run(["lint"])
    assert not e.value.code and "in order" in capsys.readouterr().err
    change(folder, "en.qmd", "## Challenge: the same line in the kernel", "## Something else")
    with pytest.raises(SystemExit) as e:
        cli.run(["lint", "42"])
    out = capsys.readouterr()
    assert e.value.code == 1 and f"lessons/{SLUG}/en.qmd" in out.out


def test_a_kernel_that_no_gpu_has_run_is_for_no_lesson(folder, monkeypatch):
    change(folder, "en.qmd", "print(ring_index(5, 3))", "import kernels\nkernels.load('ring_pipeline')")
    told = "The kernel ring_pipeline has run on the emulator only. Compare it with a GPU"
    assert not any(told in problem for problem in found(folder))
    waiting = dataclasses.replace(get_spec("ring_pipeline"), compared_on_gpu=False)
    monkeypatch.setattr("kernels.spec.get_spec", lambda name: waiting)
    assert any(told in problem for problem in found(folder))


def test_a_term_is_written_in_one_way(folder):
    glossary = folder.parent / "glossary"
    glossary.mkdir(exist_ok=True)
    (glossary / "wording.yml").write_text('- {write: 扇区, not: ["(?<!（)\\\\bsectors?\\\\b"]}\n', encoding="utf-8")
    page = folder / "zh.qmd"
    page.write_text(
        page.read_text(encoding="utf-8") + "\n一次读一个 sector。\n\n扇区（sector）是 `sector` 的译名。\n", encoding="utf-8"
    )
    told = [t for t in found(folder) if "The course does not write" in t]
    assert len(told) == 1 and "zh.qmd" in told[0] and told[0].endswith("Write '扇区' (lessons/glossary/wording.yml).")
