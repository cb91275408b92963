"""What stands beside the credited sentences: a remark about the answer in any words, or a statement that may contradict it."""

import json

import pytest

from autograder.answers import score_slot
from autograder.answers.embed import encode
from autograder.answers.remarks import HERE, bare, fit, values
from autograder.answers.tests.test_answers_disowned import RIGHT

# None of these sentences stands in remarks.yml.
DENIED = [
    ("en", "{} The instructor would strike that out in red."),
    ("en", "{} My uncle claims so, and he knows little."),
    ("en", "By no means {}"),
    ("en", "Under no circumstances {}"),
    ("en", "Never has it been so that {}"),
    ("en", "I should be ashamed to say that {}"),
    ("en", "Nothing here deserves belief: {}"),
    ("en", "<details><summary>old</summary>{}</details>"),
    ("zh", "{}这番话当不得真。"),
    ("zh", "{}老师看了会给我打叉。"),
]


@pytest.mark.parametrize(("lang", "frame"), DENIED)
def test_a_denial_in_words_that_no_list_holds_waits(rubric, lang, frame):
    assert score_slot("q2", rubric, RIGHT[lang], lang).lane == "auto"
    framed = score_slot("q2", rubric, frame.format(RIGHT[lang]), lang)
    assert framed.lane == "review" or framed.points == 0


CONTRADICTED = {
    "en": "On the other hand an uninitialised C is harmless, because zero times any value that happens to lie in that buffer gives zero, so the result stays exact.",
    "zh": "另外，就算 C 没有初始化也没有关系，因为 0 乘以缓冲区里的任何内容都得到 0，结果总是精确的，多读一次 C 也不花任何带宽，速度完全一样。",
}


@pytest.mark.parametrize("lang", CONTRADICTED)
def test_full_points_wait_where_more_is_said_of_the_subject_that_may_be_wrong(rubric, lang):
    both = score_slot("q2", rubric, f"{RIGHT[lang]}\n\n{CONTRADICTED[lang]}", lang)
    assert both.lane == "review"


def test_a_short_remark_of_the_subject_keeps_the_points_released(rubric):
    both = score_slot("q2", rubric, RIGHT["en"] + " My case is beta=0 with C=None.", "en")
    assert both.lane == "auto"


def test_marks_at_the_ends_do_not_matter():
    assert bare(' "if only it were so" : ') == "if only it were so"


def test_the_reader_tells_remarks_from_statements_it_was_not_fitted_to():
    remarks = ["My uncle claims so, and he knows little.", "The instructor would strike that out in red.", "这番话当不得真。"]
    statements = ["The barrier counts the bytes that have landed.", "Two warpgroups share the tile.", "每个线程写自己的寄存器。"]
    assert values(encode(remarks)).min() > values(encode(statements)).max()


def test_the_weights_are_fitted_and_no_constant():
    weights = json.loads((HERE / "remarks.json").read_text())
    assert len(weights) == 513
    other = fit(["This is false.", "I made it up."], ["The tile is stored.", "The warp waits."])
    assert (encode(["This is false."]) @ other[:-1] + other[-1])[0] > 0 > (encode(["The warp waits."]) @ other[:-1] + other[-1])[0]
