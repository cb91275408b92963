"""What the released notebook says outside the lesson's own text, in both languages."""

# Stands in an answer slot that the page leaves empty. A slot that holds nothing but its released text counts as empty.
PLACEHOLDER = {
    "zh": "*（双击本单元格，把这一行换成你的答案。）*",
    "en": "*(Double-click this cell and replace this line with your answer.)*",
}

SETUP = {
    "zh": """\
# 先运行本单元格（锁定，不必修改）：载入 check()、hint() 等工具。
try:
    from autograder.notebook import challenge, check, hint, run_kernel, start
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"这个 Python 里没有安装 {{missing.name}}。请在解压出来的文件夹里运行"
        " python -m pip install -r requirements.txt，"
        "再选择菜单 Kernel → Restart Kernel，然后重新运行本单元格。"
    ) from None
start("{slug}", "{lang}", globals())""",
    "en": """\
# Run this cell first (locked): it loads check(), hint() and the other tools.
try:
    from autograder.notebook import challenge, check, hint, run_kernel, start
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"This Python has no package {{missing.name}}. In the unzipped folder"
        " run: python -m pip install -r requirements.txt, then choose"
        " Kernel → Restart Kernel in the menu and run this cell again."
    ) from None
start("{slug}", "{lang}", globals())""",
}

TESTS = {
    "normal": {
        "zh": '# 检查（锁定）：正常输入，{points} 分。这里运行公开的检查；\n# 交卷后还会换一批你没见过的输入。\nfrom autograder.notebook import check\n\ncheck("normal")',
        "en": '# Check (locked): normal inputs, {points} points. The visible checks run here;\n# after hand-in, inputs you have not seen are tried too.\nfrom autograder.notebook import check\n\ncheck("normal")',
    },
    "boundary": {
        "zh": '# 检查（锁定）：边界输入，{points} 分。这里核对你自己的边界用例；\n# 交卷后还会试其他边界。\nfrom autograder.notebook import check\n\ncheck("boundary")',
        "en": '# Check (locked): boundary inputs, {points} point. Your own case is tried here;\n# after hand-in, other boundaries are too.\nfrom autograder.notebook import check\n\ncheck("boundary")',
    },
}

HINT = {
    "zh": "# 卡住了就运行本单元格：每运行一次给出下一级提示，共四级；公开检查都通过时不给。\nhint()",
    "en": "# Stuck? Run this cell: each run gives the next of four hints, and none once the visible checks pass.\nhint()",
}

README = """\
# {title_zh}

需要 Python 3.11 或更新版本，不需要 GPU，也不需要编译器。在本文件夹里运行：

```
python -m venv .venv
source .venv/bin/activate          # Windows: .venv\\Scripts\\activate
python -m pip install -r requirements.txt
jupyter lab zh/{slug}.ipynb
```

1. 先运行第一个代码单元格，然后按顺序往下做：填空、写边界用例、回答问题。
2. `check()` 随时告诉你哪些已经对了、还缺什么；`hint()` 按级给提示。
3. 交卷前运行 `course check zh/{slug}.ipynb`，然后提交 `zh/{slug}.ipynb` 这一个文件，不要改名。

kernel 单元格在 Linux（x86-64、aarch64，含 Windows 的 WSL）上运行，第一次会花一分钟左右编译模拟器；在 macOS 和 Windows 上，其余部分照常可做。
有 Hopper GPU（H100、H200）时，用 `requirements-gpu.txt` 代替 `requirements.txt`，kernel 就在 GPU 上运行；`course doctor` 会说明用的是哪个后端、为什么。
`lesson.json` 是笔记本要用的数据，请留在原处。发布版本：{release_zh}（`course check` 会说明它按哪个版本检查）。

---

# {title_en}

You need Python 3.11 or newer; no GPU and no compiler. In this folder run:

```
python -m venv .venv
source .venv/bin/activate          # Windows: .venv\\Scripts\\activate
python -m pip install -r requirements.txt
jupyter lab en/{slug}.ipynb
```

1. Run the first code cell, then work downwards: the blank, your boundary case, the questions.
2. `check()` tells you at any time what is right and what is missing; `hint()` gives hints level by level.
3. Before you hand in, run `course check en/{slug}.ipynb`. Hand in that one file, `en/{slug}.ipynb`, without renaming it.

The kernel cells run on Linux (x86-64, aarch64; on Windows in WSL); the first one may take about a minute to build the emulator. On macOS and Windows all other parts work.
With a Hopper GPU (H100, H200) use `requirements-gpu.txt` in place of `requirements.txt`, and the kernels run on it; `course doctor` says which back end is used and why.
`lesson.json` holds what the notebook needs: leave it where it is. Release: {release_en} (`course check` says which one it checks against).
"""
