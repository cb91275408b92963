"""The notebook that formgrader shows: score boxes in their places whatever was handed in, nothing that runs."""

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.gradebook.autograded import autograded_text
from autograder.gradebook.safe import JOINER, safe_markdown, safe_outputs
from autograder.gradebook.tests.fake import notebook, result
from autograder.lesson import load_lesson
from autograder.release.notebook import student_notebook

LESSON = load_lesson("7")
GRADED = ["normal", "boundary", "explanation", "q1", "q2", "q3"]


def shown(tmp_path, data, res=None):
    path = tmp_path / "x.ipynb"
    path.write_bytes(data)
    return nbformat.reads(autograded_text(LESSON, path, res or result(LESSON, "ann")), as_version=4)


def by_grade_id(nb):
    return {c.metadata.nbgrader.grade_id: c for c in nb.cells if "nbgrader" in c.metadata}


def test_own_text_in_released_cells(tmp_path):
    released = next(c.source for c in student_notebook(LESSON, "en").cells if c.id == "exercise")
    mine = released.replace("______", "alpha * acc")
    nb = shown(tmp_path, notebook(LESSON, exercise=mine, q1="my answer, because of rounding"))
    nbformat.validate(nb)
    cells = by_grade_id(nb)
    assert cells["exercise"].source == mine and cells["q1"].source == "my answer, because of rounding"
    assert "✓ [normal] ordinary input" in cells["normal"].outputs[0].text


@pytest.mark.parametrize("damage", ["lost metadata", "doubled ids", "forged grade_id", "reordered", "unreadable"])
def test_every_score_box_is_there_once(tmp_path, damage):
    plain = json.loads(notebook(LESSON, q2="second answer of mine"))
    res = None
    if damage == "lost metadata":
        for c in plain["cells"]:
            c["metadata"] = {}
            c.pop("id")
    elif damage == "doubled ids":
        plain["cells"] += [c for c in plain["cells"] if c["metadata"].get("nbgrader")]
    elif damage == "forged grade_id":
        plain["cells"][3]["metadata"]["nbgrader"] = {
            "grade_id": '"><script>x</script>',
            "grade": True,
            "points": 100,
            "schema_version": 3,
            "solution": False,
            "locked": False,
        }
    elif damage == "reordered":
        plain["cells"] = plain["cells"][::-1]
    else:
        plain, res = {}, result(LESSON, "ann", state="UNGRADED", reasons=["no cells"])
    nb = shown(tmp_path, json.dumps(plain).encode(), res)
    nbformat.validate(nb)
    ids = [c.metadata.nbgrader.grade_id for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert sorted(ids) == sorted(GRADED)
    assert "<script" not in nbformat.writes(nb)
    if damage != "unreadable":
        assert "second answer of mine" in by_grade_id(nb)["q2"].source


def test_outputs_of_his_own_cells_are_shown_safely(tmp_path):
    plain = json.loads(notebook(LESSON))
    evil = {
        "output_type": "display_data",
        "metadata": {},
        "data": {
            "text/html": "<script>x</script>",
            "image/svg+xml": "<svg onload=x>",
            "text/plain": "1.5 ms",
            "application/javascript": "x",
        },
    }
    hint = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"application/vnd.hopper-course.hint+json": {"level": 2}, "text/plain": "hint"},
    }
    plain["cells"].append(
        {
            "cell_type": "code",
            "id": "mine",
            "metadata": {},
            "execution_count": 3,
            "source": "%timeit f()",
            "outputs": [evil, hint],
        }
    )
    nb = shown(tmp_path, json.dumps(plain).encode())
    mine = next(c for c in nb.cells if c.source == "%timeit f()")
    assert [dict(o.data) for o in mine.outputs] == [{"text/plain": "1.5 ms"}, {"text/plain": "hint"}]
    assert mine.metadata.course.hints == [2]


def test_the_quick_reading_shows_what_the_graders_reading_shows(tmp_path, monkeypatch):
    exercise = next(c.source for c in student_notebook(LESSON, "en").cells if c.id == "exercise").replace(
        "______", "alpha * acc", 1
    )
    data = notebook(
        LESSON,
        exercise=exercise,
        q1="first",
        q3="third answer",
        boundary_case="my_case = dict(acc=1.0, alpha=1.0, beta=0.0, c=None)\nmy_prediction = 1.0",
    )
    quick = shown(tmp_path, data)
    monkeypatch.setattr("autograder.gradebook.parts._untouched", lambda *a: None)
    assert shown(tmp_path, data) == quick


def test_a_second_definition_goes_to_the_graders_reading(tmp_path):
    """The last filled definition is graded, so it is the one that is shown in the exercise's place."""
    plain = json.loads(notebook(LESSON))
    exercise = next(c for c in plain["cells"] if c["id"] == "exercise")
    other = next(c for c in plain["cells"] if c["id"].startswith("kernel"))
    other["source"] = "".join(exercise["source"]).replace("______", "alpha * acc", 1)
    assert "return alpha * acc" in by_grade_id(shown(tmp_path, json.dumps(plain).encode()))["exercise"].source


HTML = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<iframe src=javascript:alert(1)>",
        "[x](javascript:alert(1))",
        "<JaVaScRiPt:alert(1)>",
        "$\\href{javascript:alert(1)}{x}$",
        "<!-- -->",
        "<svg/onload=alert(1)>",
        "`a < b`",
        "a<b and c>d",
        "`cute::Tensor<float>`",
    ]
)


@given(st.lists(HTML | st.text(max_size=20), max_size=6))
def test_rendered_markdown_holds_no_element_of_his(pieces):
    from html.parser import HTMLParser

    from nbconvert.filters.markdown import markdown2html

    class Tags(HTMLParser):
        found: list = []

        def handle_starttag(self, tag, attrs):
            self.found.append((tag, dict(attrs)))

    Tags.found = []
    Tags().feed(markdown2html(safe_markdown("\n\n".join(pieces))))
    for tag, attrs in Tags.found:
        assert tag not in (
            "script",
            "iframe",
            "svg",
            "object",
            "embed",
            "form",
            "input",
            "style",
            "link",
            "meta",
            "base",
        )
        assert not any(k.startswith("on") for k in attrs)
        assert "javascript:" not in str(attrs.get("href", "")).lower()


def test_plain_text_keeps_its_look():
    text = "beta < 0, `acc[i]`, **bold**, 1<2, $x \\le y$, 数据 data: 中文"
    assert safe_markdown(text).replace(JOINER, "") == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(
                st.sampled_from(["output_type", "data", "text", "name", "text/plain", "traceback", "ename"])
                | st.text(max_size=3),
                x,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_outputs_of_any_shape(junk):
    for made in safe_outputs(junk):
        nbformat.validate(nbformat.from_dict(made), ref="output", version=4)
