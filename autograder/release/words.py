"""What the released notebook says outside the lesson's own text, in both languages."""

# Stands in an answer slot that the page leaves empty. A slot that holds nothing but its released text counts as empty.
PLACEHOLDER = {
    "zh": "*（双击本单元格，把这一行换成你的答案。）*",
    "en": "*(Double-click this cell and replace this line with your answer.)*",
}

SETUP = {
    "zh": '''\
# 先运行本单元格（锁定，不必修改）：载入 check()、hint() 等工具。
try:
    from autograder.notebook import challenge, check, hint, run_kernel, start
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"这个 Python 里没有安装 {{missing.name}}。请在解压出来的文件夹里运行：python -m pip install -r requirements.txt，"
        "然后在菜单里选择 Kernel → Restart Kernel，再运行本单元格。"
    ) from None
start("{slug}", "{lang}", globals())''',
    "en": '''\
# Run this cell first (locked; nothing to edit here): it loads check(), hint() and the other tools.
try:
    from autograder.notebook import challenge, check, hint, run_kernel, start
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"This Python has no package {{missing.name}}. In the unzipped folder run: python -m pip install -r requirements.txt "
        "and then choose Kernel → Restart Kernel and run this cell again."
    ) from None
start("{slug}", "{lang}", globals())''',
}

TESTS = {
    "normal": {
        "zh": '# 检查（锁定）：正常输入，{points} 分。这里运行公开的检查；交卷后还会换一批你没见过的输入。\ncheck("normal")',
        "en": '# Check (locked): normal inputs, {points} points. The visible checks run here; after hand-in unseen inputs are tried too.\ncheck("normal")',
    },
    "boundary": {
        "zh": '# 检查（锁定）：边界输入，{points} 分。这里核对你自己的边界用例；交卷后还会试其他边界。\ncheck("boundary")',
        "en": '# Check (locked): boundary inputs, {points} point. Your own boundary case is tried here; after hand-in other boundaries are too.\ncheck("boundary")',
    },
}
