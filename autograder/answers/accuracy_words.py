"""The accuracy report's words in both languages."""

WORDS = {
    "en": {
        "independent": "independent writers",
        "calibration": "calibration writer",
        "all": "all",
        "zh": "Chinese",
        "en": "English",
        "title": "How right is the reader of answers?",
        "intro": (
            "Measured by `python -m autograder.answers.accuracy {lesson} --write`. The reader is a small network that learnt from {learnt} labelled "
            "answers of this lesson and from those of the others; it never saw an answer of the writers below. The thresholds of release were fitted "
            "on the calibration writer, so the independent writers say what to expect of a class. What is not released waits for a person, who sees "
            "the doubtful sentence. Released is *harmed* if its points are wrong, or if a veto was missed or wrongly raised beside points."
        ),
        "rows": {
            "answers": "answers",
            "kappa": "quadratic weighted kappa (two-point questions)",
            "exact": "exact agreement",
            "released": "released",
            "released_share": "share released",
            "harmed": "released and harmed",
            "too_much": "released with too many points",
            "wrong_beside_credit": "answers with a wrong claim beside credit",
            "wrong_noticed": "of these noticed",
            "vetoes": "vetoes labelled",
            "vetoes_raised": "vetoes raised",
            "vetoes_false": "of these false",
        },
        "coverage": "Coverage against harm",
        "coverage_intro": "What a laxer or stricter lane would release, and how much of that would be harmed.",
        "coverage_head": "| least certainty | share released | share of it harmed |",
        "baselines": "Readers that read nothing",
        "baselines_intro": "Kappa on the same answers, each with the best thresholds there are:",
        "baseline_rows": {
            "zero": "always 0 points",
            "length": "by length",
            "terms": "by the share of the reference's character pairs",
        },
        "attacks": "Attacks",
        "attacks_intro": 'Right answers that are taken back as a whole ("Myth: ...", "... Wrong!"), in words that the reader was not trained on, and answers written to deceive.',
        "attacks_head": "| | tried | released with points not due |",
        "attack_rows": {
            "taken_back": "taken back (full points)",
            "stuffed": "stuffed with key words",
            "terms_only": "terms only",
            "injected": "orders to the grader",
        },
    },
    "zh": {
        "independent": "独立写作者",
        "calibration": "校准写作者",
        "all": "全部",
        "zh": "中文",
        "en": "英文",
        "title": "读答案的模型有多准？",
        "intro": (
            "由 `python -m autograder.answers.accuracy {lesson} --write` 测得。读答案的是一个小网络，它学过本课 {learnt} 条标注作答和其他课的作答，"
            "下面这些写作者的作答它一条也没学过。放行的阈值在校准写作者身上定，所以对一个班级该有怎样的预期，要看独立写作者。"
            "没有放行的作答由人来看，会指出存疑的那一句。放行的作答如果分数不对，或者在给分的同时漏判、误判了一票否决，就算“有害”。"
        ),
        "rows": {
            "answers": "作答数",
            "kappa": "二次加权 kappa（两分题）",
            "exact": "完全一致率",
            "released": "放行数",
            "released_share": "放行比例",
            "harmed": "放行且有害",
            "too_much": "放行且多给了分",
            "wrong_beside_credit": "得分的同时有错误断言的作答",
            "wrong_noticed": "其中被发现的",
            "vetoes": "标注的一票否决",
            "vetoes_raised": "判出的一票否决",
            "vetoes_false": "其中误判的",
        },
        "coverage": "放行比例与有害比例",
        "coverage_intro": "阈值放宽或收紧时，会放行多少，其中多少有害。",
        "coverage_head": "| 最低把握 | 放行比例 | 其中有害的比例 |",
        "baselines": "什么都不读的读者",
        "baselines_intro": "同一批作答上的 kappa，各取最好的阈值：",
        "baseline_rows": {"zero": "一律 0 分", "length": "按长度", "terms": "按与参考答案相同的字对比例"},
        "attacks": "攻击",
        "attacks_intro": "把正确的作答整体收回（“错误示范：……”“……全错。”，这些说法都没有用于训练），以及为了骗分而写的作答。",
        "attacks_head": "| | 尝试 | 多给了分还放行的 |",
        "attack_rows": {
            "taken_back": "整体收回（给满分的）",
            "stuffed": "堆砌关键词",
            "terms_only": "只列术语",
            "injected": "给评分者下指令",
        },
    },
}
