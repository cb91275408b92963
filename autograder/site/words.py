"""The site's own words in both languages, and smalldocs' English interface words in Chinese."""

WORDS = {
    "zh": {
        "language": "中文",
        "site_title": "Hopper GPU kernel 课程",
        "answer_suffix": "（参考答案版）",
        "home": "首页",
        "toc": "本页内容",
        "accuracy": "文字评分器在标注作答上测得的准确率，见[准确率报告](accuracy.qmd)。",
        "slot": "在 notebook 的这个位置写你的答案。",
    },
    "en": {
        "language": "English",
        "site_title": "Hopper GPU kernels, taught by doing",
        "answer_suffix": " (answer edition)",
        "home": "Home",
        "toc": "On this page",
        "accuracy": "How right the answer scorer is, measured on labelled answers: [accuracy report](accuracy.qmd).",
        "slot": "Your answer goes here, in the notebook.",
    },
}

ROLE_TITLE = {
    "exercise": {"zh": "练习：只补齐 ______ 处", "en": "Exercise: fill the one blank ______"},
    "boundary": {"zh": "你自己的边界输入", "en": "Your own boundary input"},
    "kernel": {"zh": "真正的 CUDA kernel", "en": "The real CUDA kernel"},
    "experiment": {"zh": "实验", "en": "Experiment"},
    "challenge": {"zh": "挑战：写 kernel 里的那一行", "en": "Challenge: that same line inside the kernel"},
    "solution": {"zh": "参考实现", "en": "Reference solution"},
}

# smalldocs 0.5.4 has no translation of its interface; these are its attributes and labels, replaced after the build.
INTERFACE_ZH = {
    'placeholder="Search"': 'placeholder="搜索"',
    'aria-label="Search"': 'aria-label="搜索"',
    'title="Toggle dark mode"': 'title="切换深色模式"',
    'aria-label="Toggle dark mode"': 'aria-label="切换深色模式"',
    'title="Copy to Clipboard"': 'title="复制"',
    'aria-label="Toggle navigation"': 'aria-label="展开导航"',
    'aria-label="Toggle sidebar navigation"': 'aria-label="展开侧栏"',
    'aria-label="Toggle section"': 'aria-label="展开本节"',
}
SCRIPT_ZH = {
    '"Copied!"': '"已复制"',
    '"Copy to Clipboard"': '"复制"',
    "No results": "没有结果",
}
