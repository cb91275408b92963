"""The student edition gives nothing away: no answer, no hidden check, no rubric item, in pages, data, notebooks or bundles."""

import html
import json
import re
import zipfile

import pytest
from ruamel.yaml import YAML

from autograder.lesson import list_lessons, load_lesson
from autograder.release.divs import Div, Text, parse
from autograder.site import build_site
from kernels.sources import CUDA_DIR

TEXT = {".html", ".js", ".json", ".ipynb", ".svg", ".md", ".py", ".txt"}
LEAST = 24  # a shorter line may stand in any text


def _squeeze(text: str) -> str:
    """Without tags, spaces and signs, so that highlighting or escaping cannot hide a match."""
    return re.sub(r"\W", "", html.unescape(re.sub(r"<[^>]+>", "", text)))


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """{file: its text, squeezed and plain} of all that a student can fetch."""
    out = tmp_path_factory.mktemp("student") / "site"
    build_site(out, renderer="smalldocs", bundles=True)
    found = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if "site_vendor" in path.parts or "site_libs" in path.parts:
            continue
        if path.suffix in TEXT:
            found[name] = path.read_text(encoding="utf-8")
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as z:
                for inside in z.namelist():
                    if inside.endswith((".ipynb", ".json", ".md")):
                        found[f"{name}:{inside}"] = z.read(inside).decode("utf-8")
    assert any(n.startswith("downloads/") for n in found)
    notebook = lambda t: "\n".join("".join(c["source"]) for c in json.loads(t)["cells"])  # noqa: E731
    plain = {n: notebook(t) if n.endswith(".ipynb") else t for n, t in found.items()}
    return plain, {n: _squeeze(t) for n, t in plain.items()}


def _yaml(lesson, name):
    return YAML(typ="safe").load((lesson / name).read_text(encoding="utf-8"))


def _strings(node, key=""):
    """(key, text) of every text in a YAML tree."""
    if isinstance(node, dict):
        for k, v in node.items():
            yield from _strings(v, k)
    elif isinstance(node, list):
        for v in node:
            yield from _strings(v, key)
    elif isinstance(node, str):
        yield key, node


def _public(lesson):
    """What the lesson's own text says to a student, squeezed: a sentence of it may stand in an answer too."""
    parts = []

    def take(div):
        for child in div.children:
            if isinstance(child, Div):
                if not child.answer_edition:
                    take(child)
            elif isinstance(child, Text):
                parts.extend(child.lines)

    for edition in load_lesson(lesson).editions.values():
        take(parse(edition.cells))
    return _squeeze(" ".join(parts))


def _where(needle, texts):
    return [name for name, text in texts.items() if needle in text]


@pytest.mark.parametrize("lesson", list_lessons(), ids=lambda p: p.name)
def test_no_rubric_item_stands_anywhere(given, lesson):
    plain, squeezed = given
    rubric = _yaml(lesson, "rubric.yml")
    ids = {text for key, text in _strings(rubric) if key == "id" and "." in text}
    public = _public(lesson)
    assert len(ids) > 10
    for i in ids:
        there = [n for n, t in plain.items() if re.search(rf"(?<![\w.]){re.escape(i)}(?![\w.])", t)]
        assert there == [], i
    for slot in rubric["slots"].values():
        for link in slot["links"]:
            for lang in ("zh", "en"):
                start = _squeeze(link[lang])[:40]
                assert len(start) < LEAST or start in public or _where(start, squeezed) == [], link["id"]


@pytest.mark.parametrize("lesson", list_lessons(), ids=lambda p: p.name)
def test_no_reference_answer_and_no_hidden_check_stands_anywhere(given, lesson):
    _, squeezed = given
    sentences = [s for _, text in _strings(_yaml(lesson, "reference.yml")) for s in re.split(r"(?<=[.。；])\s*", text)]
    lines = [
        x
        for x in (lesson / "checks.py").read_text(encoding="utf-8").split("\n")
        if not x.startswith(("from", "import"))
    ]
    held = [_squeeze(x) for x in sentences + lines]
    public = _public(lesson)
    held = [x for x in held if len(x) >= 40 and x not in public]
    assert len(held) > 15
    assert {x: w for x in held if (w := _where(x, squeezed))} == {}


def test_no_challenge_line_stands_in_the_kernels_sources(given):
    _, squeezed = given
    lines = {}
    for path in CUDA_DIR.glob("*.cu"):
        text = path.read_text(encoding="utf-8")
        if m := re.search(r"CHALLENGE-BEGIN[^\n]*\n([^\n]*)\n", text):
            lines[path.name] = m[1]
            page = squeezed[f"en/kernels/{path.stem}_cu.html"]
            # it keeps its lines: reports lead to them by number
            assert f"L{text.count(chr(10))}" in given[0][f"en/kernels/{path.stem}_cu.html"] and "______" in page
    assert len(lines) >= 8
    assert {name: w for name, line in lines.items() if (w := _where(_squeeze(line), squeezed))} == {}
