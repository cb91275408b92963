"""The verdict's reasons as sentences."""

from __future__ import annotations

from autograder.lesson.rubric import Rubric
from autograder.records import SlotScore

_SLOT = {
    "explanation": ("“解释你的实现”", "the explanation"),
    "q1": ("Q1", "Q1"),
    "q2": ("Q2", "Q2"),
    "q3": ("Q3", "Q3"),
}
_KIND = {
    "normal": ("正常输入", "normal inputs"),
    "boundary": ("边界输入", "boundary inputs"),
    "correctness": ("正确性边界", "a correctness boundary"),
    "tradeoff": ("性能取舍", "a performance trade-off"),
}
_VETO = {
    "deleted_check": ("一票否决：删除了检查", "veto: a check was deleted"),
    "loosened_check": ("一票否决：改动或放宽了检查", "veto: a check was changed or loosened"),
    "deleted_locked_check": ("一票否决：删除了边界检查单元格", "veto: the boundary check cell was deleted"),
    "edited_locked_check": ("一票否决：改动了边界检查单元格", "veto: the boundary check cell was edited"),
    "claimed_not_run": (
        "一票否决：把没有运行的结果说成实测",
        "veto: results were claimed as measured that were not run",
    ),
}
_FINDING = {
    "changed_check": ("检查换了写法", "a check was written in another way"),
    "other_release": (
        "笔记本出自另一个发布版本，检查与现在的不同",
        "the notebook comes from another release, and its checks are not today's",
    ),
    "deleted_locked_check": ("锁定的检查单元格被删除了", "a locked check cell was deleted"),
    "edited_locked_check": ("锁定的检查单元格被改动了", "a locked check cell was edited"),
    "only_own_cells": (
        "只交了自己写的单元格，课程的其他单元格都不在",
        "only the student's own cells were handed in, none of the lesson's others",
    ),
    "too_long": ("笔记本太长，没有读完", "the notebook is too long and was not read to its end"),
    "changed_basis": ("检查要用的名字与发布的不同", "a name that the checks use is not the released one"),
    "changed_machinery": (
        "改动了笔记本运行代码的方式，或检查用到的工具",
        "what runs the notebook's code, or what its checks use, was changed",
    ),
    "unread_code": (
        "填空可能在笔记本没有读到的部分",
        "the blank may stand in the part of the notebook that was not read",
    ),
    "redefined": ("函数或 check 又被定义了一次", "the function or check is defined a second time"),
    "several_fills": ("填空有几种写法", "there are several different answers in the blank"),
    "refused": ("填空里有不允许的写法，代码没有运行", "the blank uses what is not allowed, so the code was not run"),
    "outside_name": ("填空用到了填空以外定义的名字", "the blank uses a name that is defined outside it"),
    "missing_name": ("填空没有给后面要用的名字赋值", "the blank gives no value to a name that is needed after it"),
    "sandbox_failed": ("代码没能运行完", "the code could not be run to its end"),
    "claim_without_output": ("说运行或测量过，但没有输出", "a run or measurement is claimed, and no output shows it"),
    "claim_without_receipt": (
        "说在 GPU 上运行或测量过，但没有运行凭据",
        "a run or a figure on a GPU is claimed without a receipt",
    ),
    "figure_not_in_outputs": (
        "测得或工具报告的结果在输出里找不到",
        "a result said to be measured or reported by a tool is in no output",
    ),
}
_TEXT = {
    "code_check": ("隐藏检查没有全部通过：{}", "the hidden checks do not all pass: {}"),
    "no_link": ("{}没有说出一条完整的因果链", "{} states no complete causal link"),
    "no_kind": ("没有指出{}", "the answers do not point out {}"),
    "total": ("总分 {} 分，通过需要 {} 分", "total {}; {} needed to pass"),
    "review_slot": ("需要人工查看：{}的得分是暂定的", "a person must look: the points of {} are provisional"),
    "review_finding": ("需要人工查看：{}", "a person must look: {}"),
}


def sentence(code: str, detail: str, lang: str, slots: dict[str, SlotScore], rubric: Rubric) -> str:
    """One reason of a verdict (verdict.Verdict.reasons) in zh or en."""
    n = 0 if lang == "zh" else 1
    if code == "veto":
        if detail.startswith("misconception:"):
            id_ = detail.partition(":")[2]
            says = next((m.says.get(lang) for s in rubric.slots.values() for m in s.misconceptions if m.id == id_), id_)
            return ("一票否决：核心因果链错误（“{}”）", 'veto: the core causal chain is wrong ("{}")')[n].format(says)
        return _VETO.get(detail, (f"一票否决：{detail}", f"veto: {detail}"))[n]
    said = (_SLOT | _KIND | _FINDING).get(detail, (detail, detail))[n]
    text = _TEXT[code][n].format(*said.split("/") if code == "total" else [said])
    if code == "review_slot" and slots[detail].reasons:
        why = slots[detail].reasons_en[:1] if lang == "en" else []
        text += ("（", " (")[n] + (why or slots[detail].reasons)[0] + ("）", ")")[n]
    return text
