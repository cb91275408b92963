"""The accuracy report's words in both languages."""

WORDS = {
    "en": {
        "independent": "independent writer",
        "test": "held out",
        "dev": "development",
        "title": "How right is the answer scorer?",
        "intro": (
            "Measured by `python -m autograder.answers.accuracy {lesson} --write` on the labelled answers in `answers.jsonl`. "
            "What to expect of a class is the first column: its writer knew neither rubric nor scorer. The held-out answers are new "
            "wording of the scorer's own author; rules and threshold were made while reading the development answers. An answer in the `auto` lane is wrong if its points are off by one "
            "or more, or if a veto is missed or wrongly raised. Everything else waits in the `review` lane for a person, who sees the quoted evidence."
        ),
        "rows": {
            "answers": "answers",
            "kappa": "quadratic weighted kappa of all points",
            "exact": "exact agreement of all points",
            "auto_share": "share released (auto)",
            "auto_answers": "released answers",
            "auto_wrong": "released and wrong",
            "auto_error": "error rate of what is released",
            "auto_error_95": "its 95 % upper bound",
            "credited_nothing_due_auto": "released with credit where none was due",
            "vetoes": "vetoes labelled",
            "vetoes_found": "vetoes found",
            "vetoes_false": "vetoes wrongly raised",
        },
        "writers": "Writers of the {split} answers: {writers}. The first readings below say what each group of answers showed when it was new.",
        "probes": "Right answers made wrong",
        "probes_intro": (
            "Released full answers of the held-out splits, taken back as a whole (\"Myth: ...\", \"... Wrong!\") or with one word turned round (longer to shorter, before to after), "
            "and scored again. What is still released with all its points was not read for what it says. A turned word sometimes changes nothing, so the second rate is an upper bound."
        ),
        "probes_head": "| | tried | still released with all points |",
        "probe_rows": {"taken_back": "taken back", "turned": "one word turned round"},
        "first": "First readings",
        "first_intro": "What was measured when the scorer met each round's answers for the first time; what followed is in the last column.",
        "first_head": "| round | answers | kappa | exact | auto share | released and wrong | what followed |",
        "groups": {"by_language": "By language", "by_slot": "By slot", "by_category": "By category", "by_writer": "By writer"},
        "group_head": "| | answers | kappa | exact | auto share | auto wrong |",
        "links": "By causal link",
        "links_head": "| link | labelled | found | precision | recall |",
    },
    "zh": {
        "independent": "独立写作者",
        "test": "留出集",
        "dev": "开发集",
        "title": "文字评分有多准？",
        "intro": (
            "由 `python -m autograder.answers.accuracy {lesson} --write` 在 `answers.jsonl` 的标注作答上测得。"
            "对一个班级该有怎样的预期，看第一列：它的写作者不知道评分细则，也不知道评分器。留出集是评分器作者自己的新措辞；规则和放行阈值是读着开发集定下的。"
            "放行（`auto`）的作答只要分数差一分以上，或者漏判、误判了一票否决，就算错。其余的都留在 `review`，由人看着引用的原话来定。"
        ),
        "rows": {
            "answers": "作答数",
            "kappa": "全部得分的二次加权 kappa",
            "exact": "全部得分的完全一致率",
            "auto_share": "放行比例（auto）",
            "auto_answers": "放行的作答",
            "auto_wrong": "放行且错误",
            "auto_error": "放行的错误率",
            "auto_error_95": "错误率的 95 % 上界",
            "credited_nothing_due_auto": "放行了不该得的分",
            "vetoes": "标注的一票否决",
            "vetoes_found": "找到的一票否决",
            "vetoes_false": "误判的一票否决",
        },
        "writers": "{split}的写作者：{writers}。每一批作答刚拿到时的读数见下表。",
        "probes": "把对的答案改错",
        "probes_intro": (
            "取留出集里已经放行的满分作答，整段收回（“错误示范：……”“……全错。”），或者把其中一个词换成反义词（长换成短，之前换成之后），再评一次。"
            "仍以满分放行的，就是没有读懂它说的是什么。有时换一个词并不改变意思，所以第二行是上界。"
        ),
        "probes_head": "| | 试了 | 仍以满分放行 |",
        "probe_rows": {"taken_back": "整段收回", "turned": "一个词换成反义词"},
        "first": "首次读数",
        "first_intro": "评分器第一次读到每一轮作答时测得的结果；之后做了什么，见最后一列。",
        "first_head": "| 轮次 | 作答数 | kappa | 完全一致 | 放行比例 | 放行且错误 | 之后 |",
        "groups": {"by_language": "按语言", "by_slot": "按题目", "by_category": "按类别", "by_writer": "按写作者"},
        "group_head": "| | 作答数 | kappa | 完全一致 | 放行比例 | 放行且错误 |",
        "links": "按因果链",
        "links_head": "| 链 | 标注 | 找到 | 精确率 | 召回率 |",
    },
}
