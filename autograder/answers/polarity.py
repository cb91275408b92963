"""Does the writer state it, deny it, refute it, or doubt it? Chinese and English, by cue words and their scope.

A link counts only where it is asserted. "读 C 不会崩溃" denies; "有人说不会崩溃，这是错的" refutes a denial; "若读 C 就会崩溃" is a
condition, which is how consequences are stated, and asserts; "不得读 C" and "must not read C" are rules and deny nothing;
"不可避免" and "cannot avoid" deny twice, so assert.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.answers.indexed import compiled
from autograder.answers.normalise import Span
from autograder.answers.segment import Sentence

# Words that hold a negative character and deny nothing. They are looked at before the cues.
_NOT_A_CUE = compiled(
    r"不(?:仅|够|及|但|光|只是|只|止|单|同|管|论|过|然|稳|足|少|断|一致|连续|齐|合法|必要|得不|可避免|可逆|确定|如|均|良|好|当(?!成|作|做)|正确|对(?!应|c)|准(?!许)|可见|明|幸|精确|安全|一样|小心|符|等于|为(?=\s*[0零])|是\s*[0零])"
    r"|难免|免不了|无(?:条件|关|论|效|意义|用|谓|非|穷|限|界|符号|符|损|缝|疑|序|锁|需等|从)|未(?:初始化|定义|分配|知|必|来|对齐|规约|归约|写)|非(?:法|空|零|线性|规格|数|常)|莫名|没(?:用|意义|必要|错)|没(?:有)?(?:人)?(?:被)?(?:初始化|写过|赋值|清零|设置|用到)|没有(?:意义|必要|用处|疑问)"
    r"|(?:不应该|不应当|不应|不该|不要|不得|不许|不准|不允许|别(?=再|去|读|把|在|让|用)|切勿|请勿|严禁|禁止)"
    r"|(?<![a-z])(?:not only|not just|not merely|no matter|no doubt|nothing but|no wonder|nothing less than|not unlike"
    r"|(?:should|must|ought|shall|may) ?(?:not|n't)|shouldn't|mustn't|not[- ]a[- ]number|non-?\w+)(?![a-z])"
    r"|(?:^|(?<=[,;:.]\s)|(?<=\bso\s)|(?<=\bthen\s))(?:do not|don't|never)(?= (?:read|load|touch|use|put|fuse|cast|do|let|issue|move|call|dereference)\b)"
)
_CUE = re.compile(
    r"(?P<strong>不可能|不会|不能|不存在|不至于|不再|不需要|不用|不必|不影响|不是|并不|并非|并没|没有|从不|从未|绝不|决不|毫不|毫无|无法|无须|无需|无碍|不|没|未|无(?!法)|非(?=但))"
    r"|(?<![a-z])(?P<verb>(?:do|does|did|is|are|was|were|wo|would|could|ca|can|has|have|had|need)n't|not|never|cannot|neither|nor|hardly|unable to|fails? to|far from)(?![a-z])"
    r"|(?<![a-z])(?P<np>no|without|none of|free of|free from|lack of|lacks?|instead of|rather than|nothing)(?![a-z])"
)
_AVOID = re.compile(r"避免|防止|免去|免除|杜绝|消除|阻止|(?<![a-z])(?:avoid|prevent|escap|eliminat|stop|protect)\w*")
# Between a cue and what it might deny, these end its scope.
_BREAK = re.compile(r"过的|的(?=\s?(?:[a-z]|版本|写法|实现|代码|函数|人|同学|做法|情况|程序|线程|那))|就|才|时(?!间|钟|序)|的话|则|便|而是|即可|,|;|:|\(|\)|(?<![a-z])(?:but|so|then|because|since|when|while|if|which|that would)(?![a-z])")
# These end it too, when something stands between the cue and them: "没有守卫会崩溃", but not "不会导致崩溃".
_CAUSAL_BREAK = re.compile(r"会|导致|造成|引起|使|让|(?<![a-z])(?:leads?|causes?|makes?|means|will|would|results?|gives?)(?![a-z])")
_NEW_VERB = re.compile(r"(?<![a-z])and(?: [\w*.'-]+){2,}")  # "need and a kernel gets": a new statement has begun
_DENIED_AFTER = re.compile(
    r"^(?:不了|不掉|不到|不下|不着)|^[^,;。.!?]{0,8}?(?:(?:都|也|根本|并|其实)?(?:不会(?:发生|出现|有)|不存在|不成立|是不可能的|不可能(?:发生|出现)|没(?:有)?(?:关系|问题|影响|事)|无所谓|不重要))"
    r"|^[^,;。.!?]{0,30}?(?<![a-z])(?:(?:does|do|did|will|would|can) ?(?:not|n't)|never|cannot|can't|won't|doesn't|don't) (?:happen|occur|arise|matter|appear|exist|apply)"
    r"|^[^,;。.!?]{0,12}?(?<![a-z])(?:is|are) (?:impossible|not an? (?:issue|problem)|no (?:issue|problem)|irrelevant)"
)

_REPORT = compiled(
    r"有(?:的)?(?:人|同学|观点|说法|资料|一种(?:说法|观点))(?:会|可能|也许|常|经常)?(?:说|认为|以为|觉得|提到|主张)|(?:人们|大家|初学者|新手|很多人|不少人|许多人|网上|某些人|一些人)[^,。;]{0,6}(?:说|认为|以为|觉得)"
    r"|(?:你|您|一般|通常|直觉上|乍一看|表面上)(?:可能|也许)?(?:会)?(?:认为|觉得)|(?:可能|也许|曾经|原先|原来|起初|一开始|容易)(?:会|都)?(?:认为|觉得)|以为|(?<!无)所谓(?:的)?|(?:那种|这种)?(?:说法|观点)是"
    r"|(?<![a-z])(?:(?:some|many|most|other|a few)?\s?(?:people|students?|beginners?|folks|programmers|developers|ones?|they|you|someone|somebody)\s)(?:(?:might|may|could|often|sometimes|would|will|used to|wrongly|mistakenly|naively|tend to|first)\s)*"
    r"(?:think|thinks|thought|believe|believes|believed|assume|assumes|assumed|say|says|said|claim|claims|claimed|argue|argues|argued|expects? that|suppose|suggest)(?![a-z])"
    r"|(?<![a-z])(?:it is|it's) (?:often|sometimes|commonly|widely) (?:said|claimed|believed|thought|assumed)(?![a-z])|(?<![a-z])the (?:claim|idea|belief|view|statement|argument|intuition|notion|assumption) that(?![a-z])"
    r"|(?<![a-z])(?:i|we) (?:(?:first|originally|initially|once|used to|naively) )+(?:think|thought|believed?|assumed?)(?![a-z])|(?<![a-z])(?:i|we) (?:thought|assumed)(?![a-z])|(?<![a-z])to (?:think|say|believe|assume|claim) that(?![a-z])"
)
# Verdicts that speak of a statement and of nothing else.
_VERDICT = compiled(
    r"(?:说法|想法|观点|看法|理解|认识|推理|直觉|结论|这句话|这话|论断|印象)(?:其实|实际上|显然|完全|根本|都|也|是|就|就是|有点|并)*(?:错误的|错误|错的|错了|错|不对的|不对|不正确的|不正确|不成立|不准确|有误|有问题|站不住脚?|误解|误区)"
    r"|(?:这|那)(?:其实|显然|完全|根本|就|都)*是(?:一?(?:个|种))?(?:常见的?|典型的?)?(?:误解|误区|谬误|谣言)|其实不然|大错特错|恰恰相反|并非如此|不是这样的?|(?:这|那)并?不(?:是事实|成立|属实)"
    r"|(?<![a-z])(?:this|that|which|it|such a (?:claim|view|belief)|the (?:claim|idea|belief|view|statement|assumption|reasoning|intuition|argument|notion))(?: is| are| was|'s| would be)(?: simply| just| plainly| actually| completely| also| of course| however)*"
    r" (?:false|untrue|not true|not the case|mistaken|a (?:common |typical |popular )?(?:misconception|myth|fallacy|misunderstanding)|nonsense)(?![a-z])"
    r"|(?<![a-z])(?:the (?:claim|idea|belief|view|statement|assumption|reasoning|intuition|argument|notion)[^.;]{0,80}?(?: is| was) (?:simply |just )?(?:wrong|incorrect|false|mistaken))(?![a-z])"
    r"|(?<![a-z])(?:this|that|it|the (?:claim|argument|reasoning)) (?:does not|doesn't) hold(?![a-z])"
)
# Verdicts that may also speak of a result ("这是错的", "which is wrong"): they refute only where somebody's claim was reported.
_SOFT_VERDICT = compiled(
    r"(?:(?:这|那|此)(?:其实|实际上|显然|完全|根本|都|也|就)*(?:是|就是)?|(?:是|就是))(?:错误的|错的|错了|不对的?|不正确的?)(?=[,。;!?:\s]|$|因为|吧)"
    r"|(?<![a-z])(?:this|that|which|it|they|he|(?:this|that) one)?(?: is| are|'s|'re)(?: simply| just| plainly| actually| completely| also)* (?:wrong|incorrect|not right|not correct|a mistake)(?![a-z])"
)
_REFUTED_AHEAD = compiled(
    r"(?:并不是说|不是说|不要以为|别以为|不能认为|不能说|不应(?:该)?认为|误以为|误认为|错误地(?:认为|以为)|我不(?:认为|觉得|同意)|不认同|不赞成|反对)"
    r"|(?<![a-z])(?:it is|it's|it would be|it was)(?: simply| just| plainly| also)* (?:wrong|incorrect|false|a (?:common )?(?:mistake|myth|misconception|fallacy)|not true|untrue|not the case|not correct|not right) (?:to (?:think|say|believe|assume|claim|conclude)(?: that)?|that)(?![a-z])"
    r"|(?<![a-z])(?:do not|don't|never|should not|shouldn't|must not|cannot|can't|one should not) (?:think|assume|believe|say|conclude|expect)(?![a-z])|(?<![a-z])contrary to(?: the)? (?:popular |common )?(?:belief|idea|claim|view|intuition)(?![a-z])"
    r"|(?<![a-z])i (?:do not|don't) (?:think|believe|agree)(?![a-z])|(?<![a-z])(?:wrongly|mistakenly|falsely|naively) (?:think|thinks|assume|assumes|believe|believes|say|says)(?![a-z])"
)
_REFUTED_NOUN = compiled(
    r"(?:常见|典型|普遍|一个|一种)?(?:误区|误解|错误(?:的)?(?:想法|说法|观点|理解|认识|推理))(?:是|就是|在于|:)"
    r"|(?<![a-z])(?:the|a|one) (?:common |usual |typical )?(?:misconception|myth|fallacy|wrong (?:idea|belief|claim|argument))(?: here)?(?: is| that|:)(?: that)?(?![a-z])"
)
_CONTRAST = re.compile(r"但|然而|不过|可是|其实|事实上|实际上|而实际|相反|因为|(?<![a-z])(?:but|however|actually|in fact|in reality|because|yet|rather|nope)(?![a-z])")
_OWN_REASON = re.compile(r"(?<=[\w\"']{2})\s*:(?!\s*\")")  # "it is wrong to think that X: the reason" - what follows the colon is his own
_DOUBT = compiled(
    r"[?？]\s*[\"')]*$|(?:我|本人|实在|真)(?:也|还)?(?:不太|不|并不)(?:确定|清楚|知道|懂|会)|不太(?:确定|清楚|懂)|不(?:知道|清楚)(?=[,。;!?]|$|对不对|是不是|这样|该|怎么|为什么)|我猜|瞎猜|忘了|记不清|大概吧|也许吧|吧[。.]?$|(?<![a-z])(?:not sure|unsure|don't know|do not know|no idea|i guess|can't remember|forgot|i think maybe|perhaps not|dunno)(?![a-z])"
)


@dataclass(frozen=True)
class Stance:
    """Spans of the canonical text that the writer does not assert: refuted, or doubtful (asked, guessed, or reported and left open)."""

    refuted: tuple[Span, ...]
    doubtful: tuple[Span, ...]

    def refutes(self, span: Span) -> bool:
        return any(span.overlaps(r) for r in self.refuted)

    def doubts(self, span: Span) -> bool:
        return any(span.overlaps(d) for d in self.doubtful)


def denied(text: str, clause: Span, match: Span) -> bool:
    """Is what stands at `match` denied within its clause? Cues inside the match belong to the rule and are not counted."""
    cues = list(_CUE.finditer(text, clause.start, match.start))
    lexical = [m.span() for m in _NOT_A_CUE.finditer(text, clause.start, clause.end)] if cues else []
    count = 0
    for m in cues:
        if m.end() > match.start or any(a < m.end() and m.start() < b for a, b in lexical):
            continue
        between = text[m.end() : match.start]
        if _BREAK.search(between) or _NEW_VERB.search(between) or _too_far(m, between):
            continue
        causal = _CAUSAL_BREAK.search(between)
        if causal and causal.start() > 1 and between[: causal.start()].strip():
            continue
        count += 1
        if _AVOID.search(between):
            count += 1
    after = text[match.end : clause.end]
    if _DENIED_AFTER.search(after):
        count += 1
    return count % 2 == 1


def _too_far(cue: re.Match, between: str) -> bool:
    words = re.findall(r"[a-z0-9_'-]+", between)
    hanzi = len(re.findall(r"[\u4e00-\u9fff]", between))
    if cue["np"]:  # "without the guard computes": a noun phrase, then the verb of the sentence
        if cue["np"] in ("no", "nothing", "none of") and {"is", "are", "was", "were", "gets", "will", "can"} & set(words):
            return len(words) > 5
        while words and words[0] in ("the", "a", "an", "any", "such", "of"):
            words = words[1:]
        return len(words) > (1 if cue["np"].startswith("no") else 0)
    return len(words) + hanzi / 2 > 7


def denials(text: str) -> int:
    """Number of denying cues in a piece of text (rules such as "must not" and words such as "不仅" are none)."""
    cues = list(_CUE.finditer(text))
    lexical = [m.span() for m in _NOT_A_CUE.finditer(text)] if cues else []
    return sum(1 for m in cues if not any(a < m.end() and m.start() < b for a, b in lexical))


def stance(text: str, sents: list[Sentence]) -> Stance:
    """What of the answer is refuted or left in doubt by the writer himself."""
    refuted: list[Span] = []
    doubtful: list[Span] = []
    for n, s in enumerate(sents):
        whole = text[s.start : s.end]
        before = sents[n - 1] if n else None
        for m in _REFUTED_AHEAD.finditer(whole):
            stop = _CONTRAST.search(whole, m.end()) or _OWN_REASON.search(whole, m.end())
            refuted.append(Span(s.start + m.start(), s.start + (stop.start() if stop else len(whole))))
        for m in _REFUTED_NOUN.finditer(whole):
            refuted.append(Span(s.start + m.start(), _named_claim(text, s, s.start + m.end())))
        reports = [m for m in _REPORT.finditer(whole)]
        quoted = re.search(r"\"[^\"]{6,}\"", whole)
        settled = False
        for pattern, soft in ((_VERDICT, False), (_SOFT_VERDICT, True)):
            for m in pattern.finditer(whole):
                claims = [r for r in reports if r.end() <= m.start()]
                at = s.start + m.start()
                if not soft and len(m[0]) > 30:  # "the claim that .. is false" holds the claim itself
                    refuted.append(Span(at, s.start + m.end()))
                    continue
                if claims:
                    refuted.append(Span(s.start + claims[-1].start(), at))
                    settled = True
                elif soft and quoted and quoted.end() <= m.start() and m.start() - quoted.end() < 12:
                    refuted.append(Span(s.start + quoted.start(), at))
                elif _opens(text, s, at):
                    if before is None:
                        continue
                    said = [*_REPORT.finditer(text, before.start, before.end)]
                    if said:
                        refuted.append(Span(before.start if not soft else said[0].start(), before.end))
                    elif soft:
                        doubtful.append(before.span)
                    else:
                        refuted.append(before.span)
                elif not soft:
                    refuted.append(Span(s.start, at))
                elif re.match(r"(?:这|那|this|that|which)", m[0].strip()):
                    doubtful.append(Span(s.start, at))
        if reports and not settled:
            first = reports[0]
            turn = _CONTRAST.search(whole, first.end())
            later = sents[n + 1] if n + 1 < len(sents) else None
            if turn:
                refuted.append(Span(s.start + first.start(), s.start + turn.start()))
            elif later and _CONTRAST.match(text, later.start):
                refuted.append(Span(s.start + first.start(), s.end))
            elif not re.match(r"(?:我|i\b|we\b)", first[0].strip()):
                doubtful.append(Span(s.start + first.start(), s.end))
        if _DOUBT.search(whole):
            doubtful.append(s.span)
    return Stance(tuple(refuted), tuple(doubtful))


def _named_claim(text: str, s: Sentence, at: int) -> int:
    """Where a claim ends that was announced as a misconception: at its closing quotation mark, else with its clause."""
    opening = re.match(r"[\s:,]*\"", text[at : s.end])
    closing = text.find('"', at + opening.end(), s.end + 2) if opening else -1
    if closing > 0:
        return closing
    return next((c.end for c in s.clauses if c.end > at + 1), s.end)


def _opens(text: str, s: Sentence, at: int) -> bool:
    """Does a verdict at `at` open its sentence, so that it speaks of the sentence before?"""
    head = text[s.start : at].strip(" ,\"'但而不过可是")
    return len(re.sub(r"^(?:but|however|and|yet|of course|clearly|no)\b[ ,]*", "", head)) <= 2
