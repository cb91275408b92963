"""The ledger: values from receipts, sources and arithmetic; what is wrong is said with file and line; drift fails."""

import json

import pytest

from autograder import cli
from autograder.claims import read_ledger
from autograder.claims.arithmetic import evaluate, names_in
from autograder.claims.uses import all_problems
from autograder.claims.write import drift, made_files, write_files
from autograder.errors import CourseError
from autograder.lesson.qmd import read_edition
from autograder.lesson.references import fill

RECEIPT = {
    "kernel": "k",
    "device": "NVIDIA H200",
    "backend": "gpu",
    "time": "2026-11-29T18:23:22Z",
    "command": "course bench x",
    "commit": "1ab5fdd86cbea4",
}
POINTS = [
    {"kind": "copy", "n": 1, "gbps": 4281.3},
    {"kind": "copy", "n": 2, "gbps": 4000.0},
    {"kind": "read", "n": 1, "gbps": 2140.65},
    {"kind": "text", "n": 3, "gbps": "fast"},
]
CLAIMS = """\
claims:
  copy_rate:
    says: {zh: "拷贝带宽", en: "copy bandwidth"}
    receipt: figures/data/x.json
    value: "points[?kind=='copy' && n==`1`].gbps | [0]"
    scale: 0.001
    show: "{:.2f} TB/s"
  peak:
    says: {zh: "峰值", en: "peak"}
    source: "a datasheet, SXM5 | dense"
    value: 4.8
    show: "{:.1f} TB/s"
  part:
    says: {zh: "占比", en: "part of the peak"}
    compute: "100 * copy_rate / peak"
    show: "{:.0f} %"
"""
PAGE = "---\ntitle: {lang}\nlang: {lang}\n---\n\nIt is {{{{< var lesson01.copy_rate >}}}} of {{{{<var lesson01.peak>}}}}, {{{{< var lesson01.part >}}}}.\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "figures" / "data").mkdir(parents=True)
    (tmp_path / "figures" / "data" / "x.json").write_text(json.dumps({"points": POINTS, "receipt": RECEIPT}))
    (tmp_path / "figures" / "data" / "bare.json").write_text(json.dumps({"points": POINTS}))
    lesson = tmp_path / "lessons" / "lesson01_first"
    lesson.mkdir(parents=True)
    (tmp_path / "lessons" / "_quarto.yml").write_text("project: {type: website}\n")
    (lesson / "claims.yml").write_text(CLAIMS, encoding="utf-8")
    for lang in ("zh", "en"):
        (lesson / f"{lang}.qmd").write_text(PAGE.format(lang=lang), encoding="utf-8")
    return tmp_path


def edit(root, old, new, file="claims.yml"):
    path = root / "lessons" / "lesson01_first" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def said(root):
    ledger = read_ledger(root)
    return [f"{p.where.removeprefix(str(root) + '/')}: {p.what} {p.remedy}" for p in all_problems(ledger)]


def test_each_kind_of_claim_has_its_value(root):
    ledger = read_ledger(root)
    assert said(root) == []
    assert ledger.figures == {"lesson01.copy_rate": "4.28 TB/s", "lesson01.peak": "4.8 TB/s", "lesson01.part": "89 %"}


def test_pages_show_the_figures_and_keep_their_lines(root):
    write_files(made_files(read_ledger(root)))
    page = root / "lessons" / "lesson01_first" / "en.qmd"
    edition = read_edition(page, "en")
    assert "It is 4.28 TB/s of 4.8 TB/s, 89 %." in edition.text
    assert edition.cells[-1].source == "It is 4.28 TB/s of 4.8 TB/s, 89 %." and edition.cells[-1].line == 6
    assert "{{< var lesson01.part >}}" in read_edition(page, "en", as_written=True).text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("copy' && n==`1`", "copy'", r"claims.yml:2: The claim copy_rate matches 2 points with different values"),
        (
            "kind=='copy'",
            "kind=='none'",
            r"claims.yml:2: The claim copy_rate finds nothing in figures/data/x.json, not one number",
        ),
        ("kind=='copy' && n==`1`", "n==`3`", r"claims.yml:2: The claim copy_rate finds a str"),
        (" | [0]", "", r"claims.yml:2: The claim copy_rate finds a list of 1"),
        ("n==`1`", "n=`1`", r"claims.yml:2: The claim copy_rate has a `value` that is no JMESPath"),
        (
            "data/x.json",
            "data/gone.json",
            r"claims.yml:2: The claim copy_rate names figures/data/gone.json, which cannot be read",
        ),
        (
            "data/x.json",
            "data/bare.json",
            r"claims.yml:2: The claim copy_rate names figures/data/bare.json, which carries no receipt",
        ),
        ("figures/data/x.json", "../../etc/passwd", r"which cannot be read as JSON"),
        (
            "100 * copy_rate / peak",
            "100 * copy_rate / gone",
            r"claims.yml:13: The claim part is computed from gone, which is no claim",
        ),
        ("100 * copy_rate / peak", "part + peak", r"claims.yml:13: The claim part is computed from itself"),
        (
            "100 * copy_rate / peak",
            "peak / (peak - peak)",
            r"claims.yml:13: The claim part has no value: it divides by zero",
        ),
        (
            "100 * copy_rate / peak",
            "open('x')",
            r"claims.yml:13: The claim part has no value: `open\('x'\)` is not allowed",
        ),
        (
            'compute: "100',
            'source: "a paper"\n    compute: "100',
            r"claims.yml:13: The claim part is not right: it needs exactly one of",
        ),
        (
            'show: "{:.0f} %"',
            'show: "89 %"',
            r"claims.yml:13: The claim part is not right at show: it does not show the number",
        ),
        ('show: "{:.0f} %"', 'show: "{:.0q}"', r"claims.yml:13: The claim part is not right at show: it is no format"),
        (
            "value: 4.8",
            'value: "4.8"',
            r"claims.yml:8: The claim peak is not right: `value` must be the number that was read",
        ),
        ('zh: "峰值", ', "", r"claims.yml:8: The claim peak is not right at says.zh"),
        ("    scale: 0.001", "    skale: 0.001", r"claims.yml:2: The claim copy_rate is not right at skale"),
        ("claims:\n", "claim:\n", r"claims.yml: The file does not hold `claims:`"),
        ('says: {zh: "占比"', 'says: zh: "占比"', r"claims.yml:14: The claims are not valid YAML"),
        ("  part:", "  Part-2:", r"claims.yml:13: The claim 'Part-2' has an id"),
    ],
)
def test_a_wrong_claim_is_named_with_its_line(root, old, new, says):
    import re

    edit(root, old, new)
    found = said(root)
    assert any(re.search(says, x) for x in found), found


def test_a_wrong_claim_costs_only_itself_and_what_is_computed_from_it(root):
    edit(root, "kind=='copy'", "kind=='none'")
    assert read_ledger(root).figures == {"lesson01.peak": "4.8 TB/s"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("lesson01.part", "lesson01.parts", "en.qmd:6: There is no claim lesson01.parts."),
        (
            "{{< var lesson01.part >}}",
            "`{{< var lesson01.part >}}`",
            "en.qmd:6: The reference lesson01.part stands in code or math",
        ),
        (
            "{{< var lesson01.part >}}",
            "${{< var lesson01.part >}}$",
            "en.qmd:6: The reference lesson01.part stands in code or math",
        ),
        (
            "{{< var lesson01.part >}}",
            "{{< include x.qmd >}}",
            "en.qmd:6: The shortcode '{{< include x.qmd >}}' works in Quarto only.",
        ),
        (", {{< var lesson01.part >}}", "", "claims.yml:13: Only the zh edition states the claim part."),
        (
            "It is",
            "It is\n\n```python\nx = '{{< var lesson01.part >}}'\n```\n",
            "en.qmd:9: The reference lesson01.part stands in code or math",
        ),
    ],
)
def test_references_are_held_to_the_claims(root, old, new, says):
    edit(root, old, new, "en.qmd")
    assert any(says in x for x in said(root)), said(root)


def test_a_block_that_shows_the_syntax_states_nothing(root):
    edit(root, "It is", 'It is\n\n```{.yaml shortcodes="false"}\nx: {{< var lesson09.gone >}}\n```\n', "en.qmd")
    assert said(root) == []


def test_a_claim_that_no_page_states_is_a_problem_unless_another_is_computed_from_it(root):
    for lang in ("zh", "en"):
        edit(root, "{{<var lesson01.peak>}}", "it", f"{lang}.qmd")
    assert said(root) == []
    for lang in ("zh", "en"):
        edit(root, ", {{< var lesson01.part >}}", "", f"{lang}.qmd")
    (only,) = said(root)
    assert "claims.yml:13: No page states the claim part." in only


def test_another_lessons_claims_may_be_stated_and_computed_with(root):
    second = root / "lessons" / "lesson02_second"
    second.mkdir()
    (second / "claims.yml").write_text(
        'claims:\n  twice:\n    says: {zh: "两倍", en: "twice"}\n    compute: "2 * lesson01.peak"\n    show: "{:.1f}"\n',
        encoding="utf-8",
    )
    for lang in ("zh", "en"):
        (second / f"{lang}.qmd").write_text(
            "{{< var lesson02.twice >}} and {{< var lesson01.peak >}}\n", encoding="utf-8"
        )
    assert said(root) == []
    assert read_ledger(root).figures["lesson02.twice"] == "9.6"


def test_changed_data_are_drift_and_say_what_changed(root):
    write_files(made_files(read_ledger(root)))
    assert drift(read_ledger(root)) == []
    (root / "figures" / "data" / "x.json").write_text(
        json.dumps({"points": [POINTS[0] | {"gbps": 4100.0}], "receipt": RECEIPT})
    )
    found = drift(read_ledger(root))
    assert found[0].startswith("lessons/_variables.yml: lesson01.copy_rate is 4.10 TB/s now, not 4.28 TB/s.")
    assert [x.split(":")[0] for x in found[-2:]] == ["lessons/claims/zh.qmd", "lessons/claims/en.qmd"]


def test_the_ledger_page_says_where_each_figure_is_from(root):
    text = made_files(read_ledger(root))[root / "lessons" / "claims" / "en.qmd"]
    for part in (
        "| copy bandwidth | 4.28 TB/s | Measured: `x.json` |",
        "Read: a datasheet, SXM5 \\| dense",
        "Computed: `100 * copy_rate / peak`",
        "| `x.json` | NVIDIA H200 | `course bench x` | 2026-11-29 | `1ab5fdd` |",
    ):
        assert part in text


def test_the_command_writes_and_checks(root, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_ROOT", str(root))

    def run(*args):
        with pytest.raises(SystemExit) as e:
            cli.run(["claims", *args])
        return e.value.code or 0, capsys.readouterr()

    code, shown = run("--check")
    assert code == 1 and "The file is missing" in shown.out
    assert run()[0] == 0 and run("--check")[0] == 0
    edit(root, "value: 4.8", "value: 5.8")
    code, shown = run("--check")
    assert code == 1 and "lesson01.peak is 5.8 TB/s now, not 4.8 TB/s." in shown.out
    assert run()[0] == 0 and run("--check")[0] == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-(a - 5) ** 2", -9),
        ("min(a, b.c) / max(a, 8)", 0.25),
        ("round(10 / 3, 1)", 3.3),
        ("abs(-a)", 2),
        ("round(2.6)", 3),
    ],
)
def test_arithmetic(text, value):
    assert evaluate(text, {"a": 2.0, "b.c": 4.0}.__getitem__) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.b.c",
        "[1][0]",
        "'x' * 9",
        "9 ** 9 ** 9",
        "a if 1 else 2",
        "lambda: 1",
        "f'{a}'",
        "a[0]",
        "min(x=1)",
        "True + 1",
        "1 // 2",
        "(-8) ** 0.5",
        "1 +",
        "x" * 500,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError):
        evaluate(text, lambda name: 2.0)


def test_names_of_functions_are_no_claims():
    assert names_in("min(a, lesson01.b) + round(c)") == {"a", "lesson01.b", "c"}


def test_an_unknown_reference_raises_with_its_place_or_stands_as_quarto_shows_it():
    with pytest.raises(CourseError, match=r"page.qmd:2: There is no figure lesson01\.gone"):
        fill("a\n{{< var lesson01.gone >}}", {}, "page.qmd")
    assert fill("{{< var lesson01.gone >}}", {}, strict=False) == "?var:lesson01.gone"


def test_a_small_exponent_is_written_short(root):
    edit(root, 'show: "{:.0f} %"', 'show: "{:.1e}"')
    edit(root, "100 * copy_rate / peak", "copy_rate / 20000")
    assert read_ledger(root).figures["lesson01.part"] == "2.1e-4"
