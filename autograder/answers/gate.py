"""The integrity gate: which passages of an answer are not an answer, and what a person should look at.

A discarded passage earns nothing and is quoted; the honest text beside it is scored as if the passage were not there.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.answers.normalise import Normal, Span, normalise
from autograder.answers.segment import Sentence, sentences

# --- text addressed to the grader -----------------------------------------------------------------------------------
_GRADER = r"(?:阅卷|评卷|判卷|改卷|评分|评阅|打分|批改)(?:者|人|员|老师|教师|系统|模型|程序|器|机器人|助手|官)?|助教|(?:ai|人工智能)(?:模型|助手|评分|老师)|判题(?:系统|机)?"
_FULL = r"(?:满分|全分|高分|最高分|全部分数?|(?<![0-9.])[0-9一二两三]\s?分(?!钟|之|支|别|块|配|布|成|散|开|段|区|割|片|组|解|析|离|数|量|界|为|到|给|摊)|分数(?:给|打)|及格|通过分)"
_HEAD = r"(?:^|(?<=[\n。.!?;(\[])|(?<=[。.!?;:,] ))"  # where a message from someone else may begin
_ASK = r"(?:请|务必|必须|应(?:该|当)?|直接|麻烦|希望|求|恳请|拜托|帮忙|可以|就|都|一律|建议|要求|命令)"
_SCORING = r"(?:评分|评判|给分|打分|阅卷|评卷|判分|计分)"
_INJECTION = re.compile(
    "|".join(
        (
            # forget the rules
            rf"(?:忽略|无视|忽视|抛开|不要(?:理会|管|看|按照?|遵守|参考)|别(?:管|看|按照?)|跳过|绕过|放弃|覆盖|推翻|取消|停用|忘(?:记|掉|了))[^。;!?\n]{{0,16}}{_SCORING}[^。;!?\n]{{0,6}}(?:标准|规则|细则|要求|准则|依据|指南|流程|系统)?",
            r"(?:忽略|无视|抛开|忘(?:记|掉|了)|推翻|覆盖|取消)[^。;!?\n]{0,10}(?:以上|上面|上述|之前|前面|先前|此前|所有|一切|原有|系统)[^。;!?\n]{0,10}(?:指令|指示|提示词?|规则|要求|设定)",
            r"(?:忽略|无视|忘(?:记|掉|了))[^。;!?\n]{0,6}(?:以上|上面|上述|之前|前面)的?(?:所有|全部|一切)?(?:内容|对话|话)",
            rf"{_SCORING}(?:标准|规则|细则|准则)[^。;!?\n]{{0,6}}(?:作废|无效|忽略|失效|取消|不适用|不用看|已更新|改为)",
            r"(?<![a-z])(?:ignore|disregard|forget|override|bypass|skip|discard|neglect|(?:do not|don't) (?:follow|use|apply|look at|read))(?![a-z])[^.!?\n]{0,30}(?:rubric|criteria|prompts?|guidelines?|mark(?:ing)? scheme|(?:scoring|grading|marking)(?: \w+)?|system message)(?![a-z])",
            r"(?<![a-z])(?:ignore|disregard|forget|override|bypass|discard|neglect|(?:do not|don't) follow)(?![a-z])[^.!?\n]{0,20}(?<![a-z])(?:all|any|previous|prior|above|earlier|preceding|your|these|those|the|other|system)(?: (?:of )?(?:all|any|previous|prior|above|earlier|preceding|your|these|those|the|other|system))* (?:instructions?|rules?|directions|commands?|messages?)(?![a-z])",
            r"(?<![a-z])(?:new|updated|revised|real|actual) (?:instructions?|rules|rubric|system prompt)(?: for (?:the )?(?:grader|scorer|marker|model|ai|judge))?\s*:",
            r"(?<![a-z])(?:rubric|marking scheme|grading rules|scoring rules)[^.!?\n]{0,30}(?:no longer|void|does not apply|doesn't apply|superseded|cancelled|changed)",
            # ask for marks
            rf"{_ASK}[^。;!?\n]{{0,14}}(?:给|打|判|评|记|算|得|拿|奖励|授予)[^。;!?\n]{{0,10}}{_FULL}",
            rf"(?:给|打|判|评)(?:我|本题|此题|这题|这道题|该题|本答案|这份|该生|该学生|该同学|这位同学|一个|个|成|为|予|出)[^。;!?\n]{{0,6}}(?:{_FULL}|正确|通过)",
            r"(?:老师|助教)[^。;!?\n]{0,10}(?:给分|给个分|高抬贵手|手下留情|捞一?捞|放过|通融)|(?:打|给|判)个?满分",
            rf"(?:本|此|这道?|该)(?:题|答案|回答|学生|同学|答卷)[^。;!?\n]{{0,16}}(?:满分|全对|判(?:为|定)?(?:正确|对|满分)|已(?:经)?(?:由|被|通过)[^。;!?\n]{{0,10}}(?:审核|批改|评分|确认|验证)|完全正确|全部正确|(?:得|为|计){_FULL})",
            r"(?<![a-z])(?:give|award|grant|assign|mark|grade|score|rate|return|output|report)(?![a-z])[^.!?\n]{0,40}(?:(?:full|maximum|max|perfect|top|highest|all(?: the)?|100\s?%|[0-9]\s?/\s?[0-9]|(?<![0-9.])[0-9]) (?:possible )?(?:marks?|points?|credits?|scores?|grades?)(?![a-z])|all links)",
            r"(?<![a-z])(?:mark|grade|score|accept|treat|count|consider)(?![a-z])[^.!?\n]{0,24} as (?:fully |completely |entirely )?(?:correct|complete|passed|passing|full)(?![a-z])",
            r"(?<![a-z])(?:award|deserves?)(?![a-z])[^.!?\n]{0,30}(?<![a-z])(?:marks?|points?|credits?)(?![a-z])|(?<![a-z])(?:full|maximum|perfect|top) (?:marks|points|credit|score|grade)s?(?![a-z])",
            r"(?<![a-z])this (?:answer|response|student|explanation|submission)[^.!?\n]{0,30}(?:is (?:fully |completely |entirely |100 ?% )?(?:correct|right|verified|approved)|has been (?:verified|approved|graded|checked)|deserves|contains all|should pass|must pass)|(?<![a-z])i have verified that",
            r"视为(?:完全)?(?:正确|满足|满分)|当(?:作|成)(?:是)?(?:完全)?正确|系统消息|(?:检查|审核)(?:均|都)?已(?:经)?通过|课程组|测试账号",
            r"(?<![a-z])(?:rubric|grading|graders?|language model|course staff|benefit of the doubt|llm|chatgpt)(?![a-z])|(?<![a-z])(?:regard|treat|take)(?![a-z])[^.!?\n]{0,24} as (?:\w+ )?(?:correct|satisfied|right|passed)(?![a-z])",
            r"(?:得|计|记|给|判)\s?[0-9一二两]\s?分(?=[。,;!)\s]|$)|标记为(?:已)?(?:出现|存在|找到|满足|正确)|(?<![a-z.\d])[0-9] (?:points?|marks?)(?![a-z])(?! (?:to|at|of|in|where|per))",
            r"(?<![a-z])credit (?:all|the|every|this)(?![a-z])|(?<![a-z])override (?:code|the)(?![a-z])|(?<![a-z])counts? as (?:explained|correct|satisfied|answered|complete)(?![a-z])|(?<![a-z])evaluation result(?![a-z])",
            # words that an answer to a question has no use for
            r"满分|阅卷|评卷|判卷|评分(?:模型|系统|程序|标准|细则|助手|规则|员|人|者)|(?:获得|得到|拿到|给到)\s?[0-9一二两三]\s?分(?!钟|之|支|别|块|配|布|段|区|割|片|组|解|析|离|数|量)",
            r"(?<![a-z])(?:ai|llm|model|bot|person|whoever|teacher|one)(?: is| who is)? (?:marking|grading|scoring) (?:this|it|the|my)(?![a-z])|(?<![a-z])be (?:generous|lenient|kind|merciful)(?![a-z])|(?<![a-z])(?:reply|respond)(?: \w+)? (?:only|just|exactly|nothing but)(?![a-z])|(?<![a-z])(?:output|print|return|answer)(?: with)? (?:only|just|exactly) [\"'{]|from now on,? you|all links (?:found|present|correct)",
            # play a part
            rf"(?:假装|扮演|假设|想象|设想)你(?:是|为|现在是)|你(?:现在|从现在起|将|需要|必须|要)[^。;!?\n]{{0,6}}(?:是|扮演|作为|充当)[^。;!?\n]{{0,12}}(?:{_GRADER}|老师|专家|模型|助手)",
            rf"你是(?:一[个名位])?[^。;!?\n]{{0,10}}(?:{_GRADER}|宽容|善良|仁慈|大模型|语言模型)|(?:作为|身为)(?:一[个名位])?[^。;!?\n]{{0,4}}(?:{_GRADER})",
            rf"(?:{_GRADER})[^。;!?\n]{{0,8}}(?:请注意|须知|请看|你好|:)|(?:评分|阅卷|判题)(?:系统|模型|老师)注意",
            rf"{_HEAD}(?:系统|管理员|开发者)(?:提示|指令|消息|通知|命令|要求|说明)?\s*[:】\]]|[【\[](?:系统|管理员|开发者|评分)[^】\]\n]{{0,8}}[】\]]",
            r"(?<![a-z])(?:you are|you're|act as|pretend (?:to be|you are)|imagine you are|behave as|roleplay as)(?: now| from now on)?,? (?:an?|the|my|our) [^.!?\n]{0,30}(?:grader|examiner|marker|teacher|assistant|ai|model|judge|professor|evaluator|chatbot|language model)(?![a-z])",
            r"(?<![a-z])as (?:an?|the|your) (?:\w+ )?(?:ai(?! \w+er)|grader|examiner|marker|grading|scoring|helpful|language model|judge|evaluator)(?![a-z])",
            r"(?<![a-z])(?:dear |hey |hello |hi |attention,? |note to (?:the )?|message to (?:the )?|to (?:the )?)(?:ai |automatic |llm )?(?:grader|examiner|marker|judge|evaluator|grading (?:model|system|assistant)|language model)(?![a-z])",
            r"(?<![a-z])(?:the|this|any) (?:ai |llm )?(?:grader|grading (?:model|system)|examiner|judge|evaluator) (?:must|should|has to|shall|will|needs to)(?![a-z])",
            rf"{_HEAD}(?:system|assistant|developer)(?: prompt| message| note| override)?\s*:|<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|(?:###|{_HEAD})\s*(?:system|instruction|assistant|response)\s*:|</?(?:answer|grade|system|instructions?|score|rubric|student_answer|user|assistant)>|jailbreak|developer mode|prompt injection",
            # scores for a machine to read
            r"[\"']?(?:points?|score|grade|links|veto|lane|得分|分数)[\"']?\s*[:=]\s*[\"'\[{]?\s*(?:[0-9]|true|false|full|满分|q\d\.|[\"'])",
        )
    ),
    re.M,
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/_-]{24,}={0,2})(?![A-Za-z0-9+/=_-])")
_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:(?:\\x|%)?[0-9a-fA-F]{2}[ :]?){24,}(?![0-9a-zA-Z])")

_PLACEHOLDER = re.compile(
    r"(?:在(?:这里|此|此处)(?:写|填|输入|作答)[^。\n]{0,12}|(?:写|填)(?:下|上)?你的(?:答案|回答|解释)[^。\n]{0,6}|你的答案\s*:?|请?(?:在此)?作答\s*:?|待填写?|todo:?|tbd"
    r"|(?:write|type|enter|put|fill in) your (?:answer|explanation|response)(?: here)?|your (?:answer|response)(?: goes)?(?: here)?\s*:?|answer here|double.?click to edit[^.\n]*|_{3,}|\.{3,}|x{3,}|n/?a|none|无|略|同上|-+|\?+|/+)[.。]?"
)
# Words that make a statement of a row of terms. Chinese verbs of one character also stand inside nouns (寄存器, 性能): they count in longer pieces only.
_VERBAL = re.compile(
    r"会|导致|造成|引起|触发|使|让|因为|由于|所以|因此|如果|若|当|就|则|可以|需要|必须|得|才|还|仍|把|被|(?<!主|重)要(?!素|点)|是|在|有(?!效|限|界)|不|没|等于|取决|依赖|跳过|返回|通过|见上|防止|节省|避免|减少|增加|降低|提高|方便|保证|放进|放到|放在|采用|使用|属于"
    r"|(?<![a-z])(?:if|when|because|since|so|thus|therefore|causes?|leads?|means?|makes?|gives?|would|will|can|may|might|could|must|should|is|are|was|were|be|has|have|had|do|does|don't|doesn't|isn't|takes?|needs?|keeps?|gets?"
    r"|goes|hits?|stays?|put|save[sd]?|adds?|becomes?|holds?|depends?|sits?|works?|uses?|fails?|crashes|returns|raises|computes?|lives?|loses?|lost|grows?|multipl(?:y|ies|ied)|accumulates|it|that|which|we|you|i)(?![a-z])"
)
_WEAK_VERB = re.compile(r"读|写|乘|加|算|存|取|省|放|做|用|占|变|能|时|累积|丢|舍|转|走|看|放进|融")
_COPY_SHARE = 0.7  # share of an answer's shingles that stand in the source
_MIN_COPY = 40  # width below which copying is no finding: a short right answer resembles its source


@dataclass
class Gate:
    """normal: the answer without its discarded passages.  empty: nothing is left to score.  review: reasons for a person."""

    normal: Normal
    discarded: list[tuple[str, str]] = field(default_factory=list)  # (kind, quoted passage)
    review: list[str] = field(default_factory=list)  # codes: see reasons.py
    empty: bool = False

    @property
    def kinds(self) -> set[str]:
        return {k for k, _ in self.discarded}


def gate(answer: str, question: str = "", sources: dict[str, str] | None = None) -> Gate:
    """Look at one answer. question: the question's text.  sources: {"reference": .., "lesson": ..}, texts that must not be handed in as one's own."""
    normal = normalise(answer)
    out = Gate(normal)
    cut: list[Span] = []

    def discard(kind: str, span: Span):
        quote = normal.quote(span.start, span.end)
        if quote and not any(span.start >= c.start and span.end <= c.end for c in cut):
            out.discarded.append((kind, quote))
            cut.append(span)

    for hidden in normal.hidden:
        out.discarded.append(("hidden", hidden.strip() if hidden in answer else _tagged(answer)))
        out.review.append("hidden_text")
    if {"bidi", "tag_characters"} & set(normal.odd):
        out.review.append("hidden_text")
    for span in _encoded(normal):
        discard("injection", span)
        out.review.append("injection")
    normal_1 = normal.without(cut)
    sents = sentences(normal_1)
    spans = [_passage(normal_1, sents, Span(*m.span())) for m in _INJECTION.finditer(normal_1.text)]
    for span in _merged(spans):
        back = _span_in(normal, normal_1, span)
        discard("injection", back)
        out.review.append("injection")
    rest = normal.without(cut)
    sents = sentences(rest)
    asked = _source_shingles(question, 4)
    seen: list[set[str]] = []
    more: list[Span] = []

    def drop(kind: str, s: Span):
        out.discarded.append((kind, rest.quote(s.start, s.end)))
        more.append(s)

    for s in sents:
        text = rest.text[s.start : s.end]
        mine = _shingles(text)
        if _PLACEHOLDER.fullmatch(text.strip(" *_`\"'()[]:：")):
            drop("placeholder", s.span)
        elif asked and mine and len(mine & asked) / len(mine) >= 0.8:
            drop("question", s.span)
        elif _soup(text):
            drop("stuffing", s.span)
        elif mine and any(len(mine & old) / len(mine | old) > 0.9 for old in seen):
            drop("repeated", s.span)
        else:
            seen.append(mine)
    rest = rest.without(more)
    left = sentences(rest)
    terms = [s for s in left if term_list(rest.text[s.start : s.end])]
    if left and sum(s.end - s.start for s in terms) >= 0.6 * sum(s.end - s.start for s in left):
        for s in terms:
            out.discarded.append(("terms", rest.quote(s.start, s.end)))
        rest = rest.without([s.span for s in terms])
        left = [s for s in left if s not in terms]
    if sum(1 for k, _ in out.discarded if k == "repeated") >= 3 or any(k == "stuffing" for k, _ in out.discarded):
        out.review.append("stuffing")
    for name, source in (sources or {}).items():
        if _copied(rest.text, source):
            out.review.append(f"copied_{name}")
    out.normal = rest
    out.empty = not left
    out.review = list(dict.fromkeys(out.review))
    return out


def _tagged(answer: str) -> str:
    """The stretch of the answer that holds invisible tag characters."""
    at = [i for i, c in enumerate(answer) if 0xE0020 <= ord(c) <= 0xE007E]
    return answer[at[0] : at[-1] + 1] if at else ""


def _passage(normal: Normal, sents: list[Sentence], m: Span) -> Span:
    """From the sentence an injection begins in to the end of the one it ends in: nobody grades half of an order."""
    inside = [s for s in sents if s.start < m.end and m.start < s.end]
    if not inside:
        return m
    start, end = inside[0].start, inside[-1].end
    clauses = [c for s in inside for c in s.clauses]
    if len(normal.text[start:end]) > 90:  # a long sentence: spare the clauses that have nothing to do with it
        near = [c for c in clauses if c.overlaps(m)]
        if near:
            start, end = near[0].start, max(near[-1].end, m.end)
    return Span(min(start, m.start), max(end, m.end))


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for s in sorted(spans, key=lambda s: (s.start, s.end)):
        if out and s.start <= out[-1].end + 1:
            out[-1] = Span(out[-1].start, max(out[-1].end, s.end))
        else:
            out.append(s)
    return out


def _span_in(whole: Normal, part: Normal, span: Span) -> Span:
    """The same passage in the text before cuts."""
    start = whole.find(part.at[span.start])
    end = whole.find(part.at[min(span.end, len(part.at)) - 1]) + 1
    while end < len(whole.at) and whole.at[end] == whole.at[end - 1]:
        end += 1
    return Span(start, max(end, start + 1))


def _encoded(normal: Normal) -> list[Span]:
    """Base64 or hexadecimal that decodes to readable text: an answer has no use for it."""
    raw = normal.original
    found = []
    for m in _BASE64.finditer(raw):
        word = m[0]
        try:
            plain = base64.b64decode(word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4), altchars=b"-_" if set(word) & set("-_") else None, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
        if sum(c.isprintable() for c in plain) >= 0.95 * len(plain):
            found.append(m.span())
    for m in _HEX.finditer(raw):
        digits = re.sub(r"\\x|%|[ :]", "", m[0])
        try:
            plain = bytes.fromhex(digits).decode("utf-8")
        except (ValueError, UnicodeDecodeError):
            continue
        if sum(c.isprintable() for c in plain) >= 0.95 * len(plain):
            found.append(m.span())
    return [Span(normal.find(a), normal.find(b)) for a, b in found if normal.find(b) > normal.find(a)]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_.=!*]+|[\u3400-\u9fff]", text)


def _shingles(text: str, size: int = 4) -> set[str]:
    """Runs of `size` words (a Chinese character is a word), or the whole where it is shorter."""
    words = _words(text)
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)} or ({" ".join(words)} if words else set())


def _copied(text: str, source: str) -> bool:
    if len(_words(text)) < _MIN_COPY:
        return False
    mine = _shingles(text, 6)
    return len(mine & _source_shingles(source, 6)) / len(mine) >= _COPY_SHARE


@lru_cache(maxsize=64)
def _source_shingles(source: str, size: int) -> frozenset[str]:
    """A lesson page is long and the same for every answer."""
    return frozenset(_shingles(normalise(source).text, size))


def _soup(text: str) -> bool:
    """Keyword stuffing: the same few words over and over. Prose repeats function words, never content at this rate."""
    links = len(re.findall(r"因为|所以|因此|导致|(?<![a-z])(?:because|therefore|so)(?![a-z])", text))
    if links >= 4 and len(text) < 14 * links:
        return True
    words = [w for w in re.findall(r"[a-z0-9_.=*]{2,}", text) if w not in _FUNCTION_WORDS]
    hanzi = re.findall(r"[\u3400-\u9fff]", text)
    pairs = [a + b for a, b in zip(hanzi, hanzi[1:])]
    units = words + pairs[::2] if len(pairs) > len(words) else words
    if len(words) + len(hanzi) / 2 < 10:
        return _doubled(text) >= 3
    counts = Counter(units)
    tokens = re.findall(r"[a-z0-9_.=*]+", text)
    twos = Counter(zip(tokens, tokens[1:]))
    if twos and max(twos.values()) >= 4 and 2 * max(twos.values()) >= 0.3 * (len(tokens) + len(hanzi) / 2):
        return True
    heavy = sum(n for n in counts.values() if n >= 3)
    return heavy > 0.4 * len(units) and len(counts) < 0.62 * len(units) or _doubled(text) >= 3


def _doubled(text: str) -> int:
    """Number of words written twice or more in direct succession."""
    return len(re.findall(r"(?<![a-z0-9_])([a-z0-9_.=*]{3,}(?: [a-z0-9_.=*]+){0,2})(?:[ ,;]+\1)+(?![a-z0-9_])|([\u3400-\u9fff]{2,5})[ ,、]?\2", text))


_FUNCTION_WORDS = frozenset(
    "the a an of to in on and or is are be was were it its that this which with by for as at so if when then from not no but has have had will would can may does do each one two than into only".split()
)


def term_list(text: str, at_least: int = 1) -> bool:
    """A row of at_least terms: separated by commas or blanks, with nothing that states anything."""
    body = re.sub(r"^[^,:、]{0,24}:", "", text)
    pieces = [p for p in re.split(r"\s*[,、;|&:]\s*|\s[/+]\s", body) if p.strip() and not re.fullmatch(r"\w+=[\w.()'\"+-]+", p.strip())]
    if not pieces:
        return "=" not in body
    if len(pieces) < at_least:
        return False
    stated = sum(1 for p in pieces if _states(p))
    longest = max(len(_words(p)) for p in pieces)
    if stated == 0:
        if len(pieces) == 1 and re.search(r"[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+", body):
            return False  # an English sentence whose verb is not in the list
        return len(_GLUE.findall(body)) < max(2, 0.7 * len(pieces)) and (longest <= 8 or len(body.split()) > 4)
    return len(pieces) >= 4 and stated <= 0.2 * len(pieces) and longest <= 8 and len(_GLUE.findall(body)) < 2


def _states(piece: str) -> bool:
    long_zh = re.search(r"[\u3400-\u9fff]{7}", piece)
    return bool(_VERBAL.search(piece) or re.search(r"(?<=[a-z0-9 ])[用做读写乘加算存取放转能](?=[ a-z0-9])", piece) or (long_zh and _WEAK_VERB.search(piece)) or re.search(r"\w[*+]\w+.*=|=.*\w[*+]\w|->", piece))


_GLUE = re.compile(r"(?<![a-z])(?:the|an?|to|of|in|on|by|for|with|or|its?|this|these|own|from|at|than|not|no)(?![a-z])")
