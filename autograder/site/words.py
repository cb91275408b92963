"""The site's own words in both languages, and smalldocs' English interface words in Chinese."""

WORDS = {
    "zh": {
        "site_title": "Hopper GPU kernel 课程",
        "answer_suffix": "（参考答案版）",
        "home": "首页",
        "toc": "本页内容",
        "toc_phone": "本页内容（折叠）",
        "control": "这里有一个可以操作的图，需要 JavaScript；没有它，请看下面的静态图和单元格的输出。",
        "skip": "跳到正文",
        "search": "搜索",
        "kernels": "kernel 源码",
        "source_of": "源码：",
        "lost": "没有这一页",
        "lost_text": "地址可能写错了，或者这一页已经改名。可以从[首页](index.qmd)开始，或者用上面的搜索。",
        "zoom": "放大",
        "diagram": "流程图：",
        "cell_picture": "上面的单元格画出的图；数值见它打印的文字。",
        "accuracy": "文字评分器在标注作答上测得的准确率，见[准确率报告](accuracy.qmd)。",
    },
    "en": {
        "site_title": "Hopper GPU kernels, taught by doing",
        "answer_suffix": " (answer edition)",
        "home": "Home",
        "toc": "On this page",
        "toc_phone": "On this page, folded",
        "control": "A picture that you can work stands here; it needs JavaScript. Without it, see the figure and the cell's output below.",
        "skip": "Skip to the text",
        "search": "Search",
        "kernels": "Kernel sources",
        "source_of": "Source:",
        "lost": "There is no such page",
        "lost_text": "The address may be mistyped, or the page has another name now. Begin at the [home page](index.qmd), or search above.",
        "zoom": "Enlarge",
        "diagram": "Diagram:",
        "cell_picture": "What the cell above draws; its numbers are in the text that it prints.",
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
