"""The site's own words in both languages, and smalldocs' English interface words in Chinese."""

WORDS = {
    "zh": {
        "site_title": "Hopper GPU kernel 课程",
        "answer_suffix": "（参考答案版）",
        "home": "首页",
        "toc": "本页内容",
        "accuracy": "文字评分器在标注作答上测得的准确率，见[准确率报告](accuracy.qmd)。",
    },
    "en": {
        "site_title": "Hopper GPU kernels, taught by doing",
        "answer_suffix": " (answer edition)",
        "home": "Home",
        "toc": "On this page",
        "accuracy": "How right the answer scorer is, measured on labelled answers: [accuracy report](accuracy.qmd).",
    },
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
