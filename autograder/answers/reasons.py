"""Why a person should look, and why a passage earned nothing, in both languages."""

from __future__ import annotations

_TEXT = {
    "unsure": ("两种读法给出的分数不一致，或者证据离判定线太近，需要人工确认。", "The evidence lies too near the line between two scores; a person should confirm the points."),
    "doubtful": ("有一条因果链只以提问、猜测或转述的形式出现。", "A causal link appears only as a question, a guess or hearsay."),
    "contradicted": ("同一条因果链在一处被肯定、在另一处被否定。", "A causal link is stated in one place and denied in another."),
    "misconception_unsure": ("这一段可能是本课的一种错误概念，需要人工判断：“{quote}”", "This passage may state one of the lesson's misconceptions; a person should judge: \"{quote}\""),
    "injection": ("答案里有写给评分者的指令；那一段不计分。", "The answer holds instructions to the grader; that passage earns nothing."),
    "hidden_text": ("答案里有页面上看不见的文字；那一段不计分。", "The answer holds text that does not show on the page; it earns nothing."),
    "styled_text": ("答案里有用样式、公式命令或特殊标签改变了外观的文字，页面上是否看得清需要人工确认。", "The answer holds text that styles, commands of a formula or uncommon tags dress up; a person should see whether a page shows it plainly."),
    "stuffing": ("答案里有关键词堆砌；那一段不计分。", "The answer is stuffed with repeated key words; that passage earns nothing."),
    "copied_reference": ("答案大段照抄参考答案，不是自己的话。", "Most of the answer is copied from the reference answer and is not in the student's own words."),
    "copied_hint": ("答案大段照抄提示，不是自己的话。", "Most of the answer is copied from a hint and is not in the student's own words."),
    "copied_lesson": ("答案大段照抄课文，不是自己的话。", "Most of the answer is copied from the lesson and is not in the student's own words."),
    "denied_whole": ("作者把自己写的内容整体否定了，或者表示不同意；需要人工判断他到底主张什么。", "The writer denies or disagrees with what he wrote as a whole; a person should judge what he means to say."),
    "reported_whole": ("答案的大部分是引用别人的话，需要人工判断是不是他自己的主张。", "Most of the answer quotes somebody else; a person should judge whether it is what he claims himself."),
    "aside": ("这一句不是在讲问题本身，或者在评价答案自己，需要人工确认：“{quote}”", "This does not speak of the subject, or it speaks of the answer itself; a person should confirm: \"{quote}\""),
    "unread": ("答案里还有一些相关内容没有对上任何因果链，也许值更多的分，需要人工确认。", "Part of the answer is about the question and matches no link; it may be worth more, so a person should confirm."),
    "turned": ("这一句和参考说法的方向相反，需要人工确认：“{quote}”", "This says the opposite of what the lesson states; a person should confirm: \"{quote}\""),
    "against": ("这一句没有对上任何因果链，也许和已得分的内容不一致，需要人工确认：“{quote}”", "This matches no causal link and may not agree with what earned the points; a person should confirm: \"{quote}\""),
    "too_long": ("答案过长，只读了前一部分。", "The answer is very long; only its first part was read."),
    "empty": ("没有作答。", "There is no answer."),
    "discarded_injection": ("写给评分者的话不计分。", "Words addressed to the grader earn nothing."),
    "discarded_struck": ("划掉的文字不计分。", "Struck-out text earns nothing."),
    "discarded_hidden": ("看不见的文字不计分。", "Invisible text earns nothing."),
    "discarded_placeholder": ("占位文字不是答案。", "The placeholder is not an answer."),
    "discarded_question": ("照抄题目不计分。", "Repeating the question earns nothing."),
    "discarded_stuffing": ("堆砌的关键词不计分：要说明原因和结果。", "Stuffed key words earn nothing: say what causes what."),
    "discarded_repeated": ("重复的句子只算一次。", "A repeated sentence counts once."),
    "discarded_terms": ("只列术语不计分：要说明原因和结果。", "A list of terms earns nothing: say what causes what."),
    "judge_failed": ("外部评审没有给出可用的结果（{detail}），以下是离线评分。", "The judge gave no usable result ({detail}); this is the offline score."),
    "judge_disagrees": ("外部评审与离线评分找到的因果链不同（{detail}）。", "The judge and the offline scorer do not find the same links ({detail})."),
    "judge_agrees": ("外部评审与离线评分一致。", "The judge and the offline scorer agree."),
    "judge_dropped": ("外部评审引用的原文在答案里找不到，已丢弃（{detail}）。", "Quotes of the judge that do not stand in the answer were dropped ({detail})."),
}


def say(code: str, lang: str, **values: object) -> str:
    """One sentence for a code, in zh or en."""
    zh, en = _TEXT[code]
    return (zh if lang == "zh" else en).format(**values) if values else (zh if lang == "zh" else en)
