"""What the in-page exercise says, in both languages: (zh, en). What it has in common with check() comes from autograder.student.words."""

from __future__ import annotations

from autograder.student.words import WORDS as STUDENT

SHARED = (
    "ok bad todo note title_normal title_boundary blank_empty no_function not_function no_parse cell_raises check_passed check_failed "
    "check_false check_raised not_here no_visible case_empty case_waits case_not_dict case_raised case_wrong case_same case_right "
    "answer_empty answer_written answer_short slot_explanation slot_q1 slot_q2 slot_q3 hint_title hint_1 hint_2 hint_3 hint_4 hint_ask "
    "too_slow run_died foot_unseen"
).split()

WORDS: dict[str, tuple[str, str]] = {
    "label_exercise": ("填空单元格", "Exercise cell"),
    "label_case": ("边界用例单元格", "Boundary case cell"),
    "label_answer": ("作答：{slot}", "Your answer: {slot}"),
    "keys": (
        "Tab 缩进，按 Esc 后再按 Tab 离开，Ctrl+Enter 检查。",
        "Tab indents; Esc, then Tab, leaves the field; Ctrl+Enter checks.",
    ),
    "placeholder": ("在这里写你的答案。", "Write your answer here."),
    "check": ("检查", "Check"),
    "check_case": ("核对用例", "Try my case"),
    "restore": ("恢复原样", "Start over"),
    "undo": ("撤销", "Undo"),
    "restored": ("已恢复成原来的单元格。", "The original cell is back."),
    "loading": (
        "正在载入 Python（{size} KB，只需一次）……",
        "Loading Python ({size} KB, once) ...",
    ),
    "running": ("正在运行……", "Running ..."),
    "where": (
        "在你的浏览器里运行（MicroPython {version}），没有上传任何内容。",
        "Run in your browser (MicroPython {version}); nothing was uploaded.",
    ),
    "printed": ("输出", "Printed"),
    "open_items": ("还有 {n} 项要处理。", "Left to do: {n}."),
    "all_right": ("公开检查全部通过。", "All visible checks pass."),
    "outside": (
        "填空所在语句以外也有改动。评分只取这条语句，放回原来的单元格运行；改动的检查会算作松动检查。",
        "Something outside the statement with the blank was changed. The grader takes that statement alone and runs it in the original cell; a changed check counts as loosened.",
    ),
    "page_syntax": (
        "页面里的 Python 较小，个别新语法（如 match）读不懂；确信写对了，就在 notebook 里检查。",
        "The Python of this page is a small one and does not read some newer syntax (match, for example); if you are sure of it, check it in the notebook.",
    ),
    "page_case": ("边界用例单元格没有运行完：{error}。", "The boundary case cell stopped: {error}."),
    "hint_button": ("看提示 {level}/4：{name}", "Hint {level} of 4: {name}"),
    "hint_yes": ("看答案", "Show the answer"),
    "hint_no": ("再想想", "Not yet"),
    "hints": ("提示", "Hints"),
    "hand_in": ("交卷", "Hand in"),
    "hand_in_text": (
        "下载的就是本课的笔记本，填空、边界用例和作答已经写好；把这一个文件交上去，不要改名。",
        "What you download is the lesson's notebook with your blank, your case and your answers in it. Hand in that one file, without renaming it.",
    ),
    "download": ("下载笔记本", "Download the notebook"),
    "upload": ("读回一份笔记本", "Read a notebook back in"),
    "forget": ("清除这一课写的内容", "Clear what I wrote here"),
    "forgot": ("已清除。", "Cleared."),
    "kept": ("写的内容只保存在这个浏览器里。", "What you write is kept in this browser only."),
    "not_kept": (
        "这个浏览器不保存网页的数据（隐私窗口或禁用了存储）：离开前请下载笔记本。",
        "This browser keeps nothing for web pages (a private window, or storage is blocked): download the notebook before you leave.",
    ),
    "progress_none": ("未做", "not begun"),
    "progress_tried": ("做了，还没有通过", "begun, not right yet"),
    "ready_exercise": ("通过了公开的检查", "passes the visible checks"),
    "ready_case": (
        "预测与函数一致；算不算边界输入，评分时判定",
        "your function gives what you predict; whether it counts is decided when it is graded",
    ),
    "downloaded": (
        "已生成 {file}。还没做的部分见上表；在解压的压缩包里可以用 course check 再查一遍。",
        "{file} was made. What is still open stands in the list; with the bundle unzipped, course check looks it over once more.",
    ),
    "no_notebook_data": (
        "笔记本的数据没有载入：连上网络后重新打开这一页，再试一次。写的内容没有丢。",
        "The notebook's data could not be loaded: open this page again with a connection and retry. Nothing you wrote is lost.",
    ),
    "read_in": ("已读入 {file}。", "{file} was read in."),
    "read_other_lang": (
        "{file} 是这一课的英文笔记本，已读入英文页面：{link}",
        "{file} is this lesson's Chinese notebook; it was read into the Chinese page: {link}",
    ),
    "other_page": ("打开英文页面", "open the Chinese page"),
    "read_other_lesson": (
        "{file} 是另一课（{lesson}）的笔记本，什么也没有改。",
        "{file} is the notebook of another lesson ({lesson}); nothing was changed.",
    ),
    "read_no_notebook": (
        "{file} 不是能读的笔记本（.ipynb），什么也没有改。",
        "{file} is not a notebook that can be read (.ipynb); nothing was changed.",
    ),
    "read_nothing": (
        "{file} 里找不到这一课的填空和作答，什么也没有改。",
        "{file} holds none of this lesson's cells; nothing was changed.",
    ),
    "cannot": (
        "这里不能在页面中运行 Python：{why}。你写的内容照样保存和下载；检查请在 notebook 里做：",
        "Python cannot run in this page here: {why}. What you write is kept and can be downloaded all the same; check it in the notebook:",
    ),
    "cannot_wasm": ("这个浏览器没有 WebAssembly 或 Web Worker", "this browser has no WebAssembly or no Web Worker"),
    "cannot_load": (
        "没有载入成功（断网，或页面版本已更新），可以重试",
        "it could not be loaded (no connection, or the site was renewed); you may try again",
    ),
    "bundle": ("下载压缩包", "download the bundle"),
}


def page_words(lang: str) -> dict[str, str]:
    """Every sentence that the page may say in one language."""
    side = 0 if lang == "zh" else 1
    return {key: STUDENT[key][side] for key in SHARED} | {key: pair[side] for key, pair in WORDS.items()}
