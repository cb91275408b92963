"""Does the writer stand by what he wrote? Text that he strikes out, denies as a whole, or reports as somebody else's.

Struck-out text is withdrawn and earns nothing. A denial or a report that reaches over many sentences ("以下说法都是错的：...", "All of the
above is wrong.", "我同学写的是“...”，我不同意。") is no matter of one clause, which polarity.py reads: a person looks at the answer.
"""

from __future__ import annotations

import re

from autograder.answers import markup
from autograder.answers.normalise import Normal, Span

_STRUCK = re.compile(r"(?<![~\\])~~(?=[^\s~])(?:[^~\n]|~(?!~)|\n(?!\s*\n))+?(?<=[^\s~])~~(?!~)")
_OVERLAID = re.compile(r"(?:\S[\u0334-\u0338\u20d2\u20d3\u20e5]+\s*){3,}")  # a stroke through every letter

_WRONG_ZH = r"(?:是|算|属于|纯属)?(?:完全|根本|彻底|统统|通通)?(?:是)?(?:错|不对|不正确|不成立|不是(?:真|对|正确|事实)|假|胡说|胡扯|瞎(?:说|写|编)|乱(?:写|编)|反的|反话|误解|谬误|谎)"
_WRONG_EN = r"(?:wrong|incorrect|false|untrue|mistaken|nonsense|rubbish|lies?|a lie|not (?:true|right|correct)|the opposite of)"
_WHOLE = re.compile(
    r"(?:以下|下面|下列|如下|以上|上面|上述|前面|前述|后面|接下来|这里|这些|那些)[^,。;!?:]{0,14}?(?:(?:都|全|全部|全都|均|统统|通通|皆|没有一句|没一句|无一|纯属|纯粹)"
    + _WRONG_ZH
    + r"|没有?一(?:句|个|条|点)?(?:是)?(?:对|正确|真)|(?:是)?(?:错误|不正确|不对|虚假)的?(?:说法|观点|理解|答案|结论|推理|例子)(?=[:。,;!]|$))"
    + r"|(?:把|将)(?:以上|上面|上述|以下|下面)[^。;!?]{0,16}(?:反过来|颠倒|倒过来)|(?:真相|事实|正确答案|实际情况?)(?:正好|恰好|恰恰|刚好)?(?:与此|与之|和这|与上述|与以上|和上面)?(?:正好|恰好|恰恰|完全)?相反"
    + r"|(?<![a-z])(?:all|everything|every (?:sentence|statement|word|claim)|each (?:sentence|statement|claim)|none|nothing|not one (?:word|sentence))(?: of)?(?: (?:this|that|these|those|the|what))?[^,.;!?]{0,40}?(?:above|below|following|(?:i|he|she|they) (?:wrote|said|say|write)|here|this|that|these|those|before|next)[^,.;!?]{0,24}? (?:is|are|was|were)(?: all| simply| completely| just| plainly)* "
    + f"(?:{_WRONG_EN}|true|right|correct)(?![a-z])"
    + r"|(?<![a-z])(?:the )?(?:above|following|preceding|statements? (?:above|below)|(?:answer|text|paragraph|explanation) (?:above|below))(?: (?:statements?|sentences?|claims?|answer|text|explanation|paragraph|reasoning|argument))?(?: (?:is|are|was|were))(?: all| simply| completely| just| plainly| entirely)* "
    + _WRONG_EN
    + r"(?![a-z])|(?<![a-z])(?:the opposite (?:is true|holds|of (?:all|everything|the above|this|what))|it is exactly the (?:opposite|other way round)|(?:here are|this is|these are|what follows (?:is|are)|a list of) (?:some |a few |the )?(?:wrong|false|incorrect|untrue) (?:claims?|statements?|answers?|reasons?|explanations?))"
    + r"|(?:^|[.!?]\s*)(?:just kidding|kidding|not!|psych|april fools)[.!]*\s*$",
    re.M,
)
# Who disagrees at the end of a sentence speaks of what stands before it.
_DISAGREES = re.compile(
    r"(?:我|本人|笔者)?(?:完全|并|都|全都|根本|很|一概)?(?:不同意|不赞同|不赞成|不认同|不相信|不信|反对)(?:这|那|他|她|它|以上|上述|其中|上面)?(?:个|种|些|一|点|条|句|的|说法|观点|看法|话|任何|内容){0,4}(?=[。!;]|\s*$)"
    r"|(?<![a-z])(?:i (?:do not|don't|cannot|can't) (?:agree|believe|accept|buy)(?: (?:with )?(?:it|this|that|him|her|them|any of (?:it|this|that)|a word(?: of it)?|either))?|i (?:strongly |completely |totally )?disagree(?: with (?:it|this|that|him|her|them|all of (?:it|this|that)))?)(?=\s*[.!;]|\s*$)",
    re.M,
)
_SOMEBODY = r"(?:同学|室友|朋友|同桌|舍友|学长|学姐|老师|助教|网友|网上|别人|有人|他|她|课本|资料|chatgpt|gpt|deepseek|ai|模型|(?:class|room|team)mate|friends?|neighbou?r|somebody|someone|he|she|they|teacher|ta|the (?:book|web|internet|model))"
_REPORTED = re.compile(_SOMEBODY + r"[^\"。.!?]{0,24}?(?:写|说|答|回答|给|认为|讲|告诉|抄|wrote|writes|said|says|answered|answers|gave|gives|told|put|claims?|claimed)[^\"。.!?]{0,20}\"([^\"]{12,})(?:\"|$)", re.S)


def struck(normal: Normal) -> list[Span]:
    """What is crossed out, as spans of the canonical text."""
    raw = normal.original
    found = [m.span() for pattern in (_STRUCK, _OVERLAID) for m in pattern.finditer(raw)] + markup.struck(raw)
    spans = [Span(normal.find(a), normal.find(b)) for a, b in sorted(found)]
    return [s for s in spans if s.end > s.start]


def disowned(normal: Normal) -> list[str]:
    """Codes (reasons.py) where the writer denies his text as a whole, or most of it is somebody else's words."""
    text = normal.text
    codes = ["denied_whole"] if _WHOLE.search(text) or _DISAGREES.search(text) else []
    if 2 * sum(len(m[1]) for m in _REPORTED.finditer(text)) > len(text):
        codes.append("reported_whole")
    return codes
