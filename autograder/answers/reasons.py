"""Why a person should look, and why a passage earned nothing, in both languages."""

from __future__ import annotations

_TEXT = {
    "unsure": (
        "有一条因果链是否写到，读不准（最接近的一句：“{quote}”）。",
        'Whether one causal link is stated is not certain (nearest: "{quote}").',
    ),
    "unsure_link": (
        "这一条因果链是否写到，读不准：{link}（最接近的一句：“{quote}”）。",
        'Whether this link is stated is not certain: {link} (nearest: "{quote}").',
    ),
    "maybe_wrong": (
        "这一句可能有错误的断言，需要人工确认：“{quote}”",
        'This may assert something false; a person should confirm: "{quote}"',
    ),
    "remark": (
        "这里像是在评价答案自己，而不是在讲问题，需要人工确认：“{quote}”",
        'This seems to speak of the answer itself and not of the subject; a person should confirm: "{quote}"',
    ),
    "maybe_more": (
        "没有读到完整的因果链，也没有读到错误；换个人来读，也许能给分。",
        "No whole causal link was read, and nothing false either; a person may find more in it.",
    ),
    "terms": (
        "只有一串术语的文字不计分，需要人工确认。",
        "Text that is a row of terms earns nothing; a person should confirm.",
    ),
    "misconception_unsure": (
        "这一段可能是本课的一种错误概念，需要人工判断：“{quote}”",
        'This passage may state one of the lesson\'s misconceptions; a person should judge: "{quote}"',
    ),
    "injection": (
        "答案里有写给评分者的指令；那一段不计分。",
        "The answer holds instructions to the grader; that passage earns nothing.",
    ),
    "hidden_text": (
        "答案里有页面上看不见的文字；那一段不计分。",
        "The answer holds text that does not show on the page; it earns nothing.",
    ),
    "styled_text": (
        "答案里有用样式、公式命令或特殊标签改变了外观的文字，页面上是否看得清需要人工确认。",
        "The answer holds text that styles, commands of a formula or uncommon tags dress up; a person should see whether a page shows it plainly.",
    ),
    "stuffing": (
        "答案里有关键词堆砌；那一段不计分。",
        "The answer is stuffed with repeated key words; that passage earns nothing.",
    ),
    "copied_reference": (
        "答案大段照抄参考答案，不是自己的话。",
        "Most of the answer is copied from the reference answer and is not in the student's own words.",
    ),
    "copied_hint": (
        "答案大段照抄提示，不是自己的话。",
        "Most of the answer is copied from a hint and is not in the student's own words.",
    ),
    "copied_lesson": (
        "答案大段照抄课文，不是自己的话。",
        "Most of the answer is copied from the lesson and is not in the student's own words.",
    ),
    "too_long": ("答案过长，只读了前一部分。", "The answer is very long; only its first part was read."),
    "empty": ("没有作答。", "There is no answer."),
    "discarded_injection": ("写给评分者的话不计分。", "Words addressed to the grader earn nothing."),
    "discarded_struck": ("划掉的文字不计分。", "Struck-out text earns nothing."),
    "discarded_hidden": ("看不见的文字不计分。", "Invisible text earns nothing."),
    "discarded_placeholder": ("占位文字不是答案。", "The placeholder is not an answer."),
    "discarded_question": ("照抄题目不计分。", "Repeating the question earns nothing."),
    "discarded_stuffing": (
        "堆砌的关键词不计分：要说明原因和结果。",
        "Stuffed key words earn nothing: say what causes what.",
    ),
    "discarded_repeated": ("重复的句子只算一次。", "A repeated sentence counts once."),
    "discarded_terms": ("只列术语不计分：要说明原因和结果。", "A list of terms earns nothing: say what causes what."),
    "judge_failed": (
        "外部评审没有给出可用的结果（{detail}），以下是离线评分。",
        "The judge gave no usable result ({detail}); this is the offline score.",
    ),
    "judge_disagrees": (
        "外部评审与离线评分找到的因果链不同（{detail}）。",
        "The judge and the offline scorer do not find the same links ({detail}).",
    ),
    "judge_agrees": ("外部评审与离线评分一致。", "The judge and the offline scorer agree."),
    "judge_dropped": (
        "外部评审引用的原文在答案里找不到，已丢弃（{detail}）。",
        "Quotes of the judge that do not stand in the answer were dropped ({detail}).",
    ),
}


def say(code: str, lang: str, **values: object) -> str:
    """One sentence for a code, in zh or en."""
    zh, en = _TEXT[code]
    return (zh if lang == "zh" else en).format(**values) if values else (zh if lang == "zh" else en)
