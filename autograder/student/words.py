"""What the student's tools say, in both languages. Each entry: (zh, en), for str.format."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # marks, read by screen readers too
    "ok": ("通过", "ok"),
    "bad": ("未通过", "not yet"),
    "todo": ("待完成", "to do"),
    "note": ("说明", "note"),
    # titles
    "title_normal": ("公开检查", "Visible checks"),
    "title_boundary": ("你的边界用例", "Your boundary case"),
    "title_all": ("交卷前自查", "Before you hand in"),
    # the blank
    "blank_empty": (
        "填空还没填：把 {function} 里的 ______ 换成你的表达式，再运行那个单元格。",
        "The blank is still empty: replace ______ in {function} with your expression and run that cell.",
    ),
    "blank_here": (
        "这个单元格里还有填空：把 ______ 换成你的内容，再运行。",
        "This cell still has a blank: replace ______ with yours and run it again.",
    ),
    "no_function": (
        "内核里还没有 {function}：先运行填空单元格。",
        "There is no {function} yet: run the exercise cell first.",
    ),
    "not_function": (
        "{function} 不是函数：重新运行填空单元格。",
        "{function} is not a function: run the exercise cell again.",
    ),
    "no_parse": ("填空单元格：{why}", "The exercise cell: {why}"),
    "cell_raises": (
        "填空单元格在定义 {function} 之前就停下了：{error}。",
        "The exercise cell stopped before it defined {function}: {error}.",
    ),
    # visible checks
    "check_passed": ("{check}", "{check}"),
    "check_failed": ("{check}：得到 {got}。", "{check}: got {got}."),
    "check_false": ("{check} 不成立。", "{check} does not hold."),
    "check_raised": ("{check}：运行时抛出 {error}。", "{check}: it raised {error}."),
    "not_here": (
        "{check}：这里的 Python 没有 {what}，看不出对错；请在 notebook 里检查。",
        "{check}: the Python of this page has no {what}, so this was not tried; see what the notebook says.",
    ),
    "outside_names": (
        "{function} 用到了 {names}，它在笔记本的别处定义。评分时只取填空本身，放回原来的单元格运行：把需要的都写进填空里。",
        "{function} uses {names}, defined elsewhere in the notebook. The grader takes the blank alone and runs it in the original cell: write what it needs in the blank.",
    ),
    "no_visible": ("这一课没有公开检查。", "This lesson has no visible checks."),
    # the student's own case
    "case_empty": (
        "边界用例还没写：把 my_case 和 my_prediction 里的 ______ 换成具体的值，再运行那个单元格。",
        "The boundary case is still empty: replace every ______ in my_case and my_prediction with values and run that cell.",
    ),
    "case_waits": (
        "边界用例已写；等 {function} 填好并运行之后再核对。",
        "The boundary case is written; it is tried once {function} is complete and has been run.",
    ),
    "case_not_dict": ("my_case 应当是 dict(参数=值, ...)。", "my_case should be dict(parameter=value, ...)."),
    "case_raised": ("用 my_case 调用 {function} 时抛出 {error}。", "Calling {function} with my_case raised {error}."),
    "case_wrong": (
        "你预测 {prediction}，而你的函数给出 {got}。两者至少有一个要改：先想清楚正确结果是什么。",
        "You predict {prediction}, your function gives {got}. One of them must change: first decide what the right result is.",
    ),
    "case_same": (
        "这组输入和公开检查里的一样，评分时不算；换一组自己想到的。",
        "This input is one of the visible checks and does not count when it is graded; write one of your own.",
    ),
    "case_right": (
        "你的函数给出 {got}，与你的预测一致。它算不算边界输入，评分时判定。",
        "Your function gives {got}, as you predicted. Whether it counts as a boundary input is decided when it is graded.",
    ),
    # answers
    "answer_empty": ("{slot}：还是空的（{points} 分）。", "{slot}: still empty ({points})."),
    "answer_written": ("{slot}：已写 {count} 字。", "{slot}: words written: {count}."),
    "answer_short": (
        "{slot}：只有 {count} 字，很难说清一条因果链（原因 → 机制 → 结果）。",
        "{slot}: words written: {count}. So few hardly hold a causal chain (cause → mechanism → effect).",
    ),
    "slot_explanation": ("解释你的实现", "Explanation"),
    "slot_q1": ("Q1", "Q1"),
    "slot_q2": ("Q2", "Q2"),
    "slot_q3": ("Q3", "Q3"),
    "answers_saved": (
        "以上作答按 {time} 保存的文件读取；刚改过的话，先保存（Ctrl+S）再运行一次。",
        "Answers are read from the file as saved at {time}; if you have just typed, save (Ctrl+S) and run this again.",
    ),
    "answers_no_file": (
        "没有找到笔记本文件，看不到作答是否为空；交卷前运行：course check {slug}.ipynb",
        "The notebook's file was not found, so the answers were not looked at; before you hand in run: course check {slug}.ipynb",
    ),
    # footers
    "foot_unseen": (
        "这里只看得到公开的部分。交卷后还会用没公开的输入检查代码，并按因果链给文字评分；满分 {total}，{pass_mark} 分通过。",
        "This shows the visible part only. After hand-in the code is tried on unseen inputs and the answers are scored by causal link; {total} points in all, {pass_mark} to pass.",
    ),
    "foot_hint": ("卡住了？hint() 按级给提示。", "Stuck? hint() gives hints level by level."),
    "failed": ("还有 {n} 项没有通过，见上面的说明。", "{n} not right yet; see the list above."),
    # hints
    "hint_title": ("提示 {level}/4：{name}", "Hint {level} of 4: {name}"),
    "hint_refused": ("提示", "Hint"),
    "hint_1": ("概念区域", "concept area"),
    "hint_2": ("方向", "direction"),
    "hint_3": ("关键局部", "key local step"),
    "hint_4": ("完整答案", "full answer"),
    "hint_next": (
        "想好了还是卡住，再看下一级：hint({level})",
        "Still stuck after thinking it over? The next level: hint({level})",
    ),
    "hint_order": ("提示要按顺序看：先看 hint({level})。", "Hints come in order: look at hint({level}) first."),
    "hint_confirm": (
        "第 4 级就是完整答案。先试着用前三级自己写出来；确定要看，运行 hint(4, confirm=True)。",
        "Level 4 is the full answer. Try to write it from levels 1 to 3 first; to see it all the same, run hint(4, confirm=True).",
    ),
    "hint_not_needed": (
        "公开检查都通过了，不需要提示；仍想看就写级数，例如 hint(1)。",
        "The visible checks pass, so no hint is needed; to see one all the same, name its level: hint(1).",
    ),
    "hint_ask": ("第 4 级就是完整答案。现在就看？", "Level 4 is the full answer. Show it?"),
    "hint_level": ("提示有 1 到 4 级，没有第 {level} 级。", "There are hint levels 1 to 4, not {level}."),
    # kernels
    "kernel_title": ("参考 kernel：{name}", "Reference kernel: {name}"),
    "kernel_backend": ("后端：{backend}。{why}", "Back end: {backend}. {why}"),
    "kernel_failed": ("kernel 没有运行：{error}", "The kernel did not run: {error}"),
    "row_ok": ("{case}：误差 {error:.1e}", "{case}: error {error:.1e}"),
    "row_more": ("另有 {n} 组输入一致", "inputs that agree besides: {n}"),
    "row_bad": ("{case}：{why}", "{case}: {why}"),
    "row_error": ("相对误差 {error:.1e}，允许 {bound:.0e}", "relative error {error:.1e}, allowed {bound:.0e}"),
    "rows_total": ("{who}：{all} 组输入中 {good} 组一致。", "{who}: {good} of {all} inputs agree."),
    # challenge
    "challenge_title": ("挑战：{name} 里的这一行", "Challenge: the line in {name}"),
    "challenge_empty": (
        "把 ______ 换成你的 CUDA C++ 代码，它会被放进 {file} 的这个位置，在模拟器上编译并运行：",
        "Replace ______ with your CUDA C++; it goes into {file} at this place and is compiled and run on the emulator:",
    ),
    "challenge_compile": ("没有编译通过：\n{error}", "It does not compile:\n{error}"),
    "challenge_run": ("编译通过，但运行出错：\n{error}", "It compiles but fails when it runs:\n{error}"),
    "challenge_done": (
        "对了：你的这一行在 {n} 组输入上都得到正确结果。",
        "Right: your line gives correct results on all {n} inputs.",
    ),
    # course check
    "check_title": ("{file}：{title}", "{file}: {title}"),
    "part_missing": (
        "缺少{part}：找不到这个单元格，别处也没有写。从压缩包里重新打开原来的笔记本，把它复制回来。",
        "Missing: {part}. The cell is not there, and nothing elsewhere stands for it; open the original notebook from the bundle and copy it back.",
    ),
    "part_doubled": ("{part}出现了 {n} 次：只留一个就好。", "There are {n} copies of {part}: one is enough."),
    "is_veto": (
        "{said}这会被一票否决：从原来的笔记本恢复它。",
        "{said} That is a veto: restore it from the original notebook.",
    ),
    "is_review": (
        "{said}请在交卷前改好，否则要等人工查看。",
        "{said} Put it right before you hand in, or it waits for a person.",
    ),
    "answer_place": (
        "{slot}：有一段文字看不出答的是哪道题。把每题的答案写进各自的作答格，否则要等人工查看。",
        "{slot}: there is text of which it does not show what question it answers. Write each answer in its own slot, or it waits for a person.",
    ),
    "fill_lost": (
        "{said}从原来的笔记本把填空单元格复制回来，再填一次。",
        "{said} Copy the exercise cell from the original notebook and fill it again.",
    ),
    "intact": ("填空以外没有改动。", "Nothing was changed outside the blanks."),
    "name_exercise": ("填空单元格", "the exercise cell"),
    "name_boundary_case": ("边界用例单元格", "the boundary case cell"),
    "name_explanation": ("作答格“解释你的实现”", "the answer slot for the explanation"),
    "name_q1": ("作答格 Q1", "the answer slot Q1"),
    "name_q2": ("作答格 Q2", "the answer slot Q2"),
    "name_q3": ("作答格 Q3", "the answer slot Q3"),
    "too_slow": (
        "{seconds} 秒内没有运行完，已经停止：检查是否有死循环。",
        "It did not finish within {seconds} seconds and was stopped: look for an endless loop.",
    ),
    "run_died": (
        "运行你的代码的进程意外结束（{reason}）。",
        "The process that ran your code ended unexpectedly ({reason}).",
    ),
    "ready": ("可以交卷了。", "Ready to hand in."),
    "not_ready": ("还有 {n} 项要处理。", "Left to do: {n}."),
    "release": (
        "依据：{slug}，发布版本 {release}（压缩包里的 lesson.json）。老师若发布了更新的版本，请下载新的压缩包再检查一次。",
        "Checked against {slug}, release {release} (lesson.json of your bundle). If a newer one was announced, download that bundle and check again.",
    ),
    "other_release": (
        "这份笔记本出自发布版本 {theirs}，旁边的 lesson.json 是版本 {release}：在新压缩包的笔记本里继续做，或者把两者放回同一个压缩包。",
        "This notebook comes from release {theirs}, the lesson.json beside it is of release {release}: go on in the newer bundle's notebook, or put both back into one bundle.",
    ),
    "no_outputs": (
        "笔记本里没有保存任何输出。如果没有运行过，请在作答中写明“仅静态审查”。",
        "The notebook holds no saved outputs. If you did not run it, say 'static review only' in your answer.",
    ),
    # what stops a command
    "no_file": (
        "没有这个文件。检查文件名；笔记本以 .ipynb 结尾。",
        "There is no such file. Check the name; the notebook ends in .ipynb.",
    ),
    "no_lesson": (
        "看不出这是哪一课的笔记本。把它放回解压出来的文件夹（那里有 lesson.json），或者按课程的名字改名，例如 lesson07_mixed_precision_epilogue.ipynb。",
        "It cannot be told which lesson this notebook belongs to. Put it back into the unzipped folder (where lesson.json is), or rename it to the lesson's name, e.g. lesson07_mixed_precision_epilogue.ipynb.",
    ),
    "too_complex": (
        "笔记本太大或太复杂，无法读取；请清除输出后重试。",
        "The notebook is too large or too complex to be read; clear its outputs and try again.",
    ),
    "data_missing": (
        "没有找到 {name} 这一课的数据（{file}）。把笔记本留在解压出来的文件夹里，或者在那里运行命令。",
        "The data of lesson {name!r} ({file}) was not found. Keep the notebook in the folder it was unzipped to, or run the command there.",
    ),
    "data_damaged": ("课程数据已损坏。请重新解压压缩包。", "The lesson data is damaged. Unzip the bundle again."),
    "data_format": (
        "课程数据的格式是 {found}，这个程序只读格式 {known}。安装同一个压缩包里的程序：python -m pip install -r requirements.txt",
        "The lesson data has format {found}, this package reads format {known}. Install the package of the same bundle: python -m pip install -r requirements.txt",
    ),
}


def say(lang: str, key: str, **values) -> str:
    """The sentence in the language, filled in; lang "": in both, where it is not known yet."""
    if not lang:
        return f"{say('zh', key, **values)} / {say('en', key, **values)}"
    return WORDS[key][0 if lang == "zh" else 1].format(**values)
