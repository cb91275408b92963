"""The integrity gate: which passages of an answer are not an answer, and what a person should look at.

A discarded passage earns nothing and is quoted; the honest text beside it is scored as if the passage were not there.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.answers import injection, markup
from autograder.answers.copied import copied
from autograder.answers.normalise import Normal, Span, normalise
from autograder.answers.segment import sentences

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
_LETTER = re.compile(r"[a-z\u3400-\u9fff]")  # a row of numbers is no row of terms
_MANY = 10  # terms in a row that no statement lists
_BLOCK = 300  # characters
_DENSE = 0.25  # compressed to less, a block says one thing many times. Of the labelled answers none comes below 0.47, and no honest one below 0.55
# A case and what comes out of it: "预测(0,0)", "置 1 的版本给 (0,1)", "predicts 3".
_RESULT = re.compile(
    r"(?:预测|预期|预计|期望|应该?|给出?|得[到出]?|返回|算[出成]|变成|输出|结果)\s?[:=]?\s?[-(\[]?\d|(?<![a-z])(?:predict|expect|give|yield|return)(?:s|ed|ing)?\s?:?\s?[-(\[]?\d"
)
_VERB_BETWEEN = re.compile(r"(?<=[a-z0-9 ])[用做读写乘加算存取放转能](?=[ a-z0-9])")
_FORMULA = re.compile(r"\w[*+]\w+.*=|=.*\w[*+]\w|->")
_LONG_CHINESE = re.compile(r"[\u3400-\u9fff]{7}")
_WEAK_VERB = re.compile(r"读|写|乘|加|算|存|取|省|放|做|用|占|变|能|时|累积|丢|舍|转|走|看|放进|融")


@dataclass
class Gate:
    """normal: the answer without its discarded passages.  empty: nothing is left to score.  review: reasons for a person.

    always: those of the reasons that hold even where what is left earns nothing.
    """

    normal: Normal
    whole: Normal | None = None  # before what only looks like no answer was cut: orders to the grader, rows of terms
    discarded: list[tuple[str, str]] = field(default_factory=list)  # (kind, quoted passage)
    review: list[str] = field(default_factory=list)  # codes: see reasons.py
    always: set[str] = field(default_factory=lambda: {"hidden_text", "injection", "terms"})
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
    if markup.dressed(answer):
        out.review.append("styled_text")
    for span in struck(normal):
        discard("struck", span)
    for span in _monotonous(normal.text):
        discard("stuffing", span)
    for span in injection.encoded(normal):
        discard("injection", span)
        out.review.append("injection")
    plain = out.whole = normal.without(cut)
    for span in injection.passages(plain):
        discard("injection", _span_in(normal, plain, span))
        out.review.append("injection")
    rest = normal.without(cut)
    sents = sentences(rest)
    asked, scrambled = _source_shingles(question, 4), _scrambled(rest.text)
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
        elif scrambled or _soup(text):
            drop("stuffing", s.span)
            out.always |= {"stuffing"} if scrambled else set()  # order is judged by few words: no zero that nobody sees
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
        out.review.append("terms")
        rest = rest.without([s.span for s in terms])
        left = [s for s in left if s not in terms]
    if sum(1 for k, _ in out.discarded if k == "repeated") >= 3 or any(k == "stuffing" for k, _ in out.discarded):
        out.review.append("stuffing")
    for name, source in (sources or {}).items():
        if copied(rest.text, source):
            out.review.append(f"copied_{name}")
    out.normal = rest
    out.empty = not left
    out.review = list(dict.fromkeys(out.review))
    return out


_STRUCK = re.compile(r"(?<![~\\])~~(?=[^\s~])(?:[^~\n]|~(?!~)|\n(?!\s*\n))+?(?<=[^\s~])~~(?!~)")
_OVERLAID = re.compile(r"(?:\S[\u0334-\u0338\u20d2\u20d3\u20e5]+\s*){3,}")  # a stroke through every letter


def struck(normal: Normal) -> list[Span]:
    """What is crossed out, as spans of the canonical text: withdrawn, it earns nothing."""
    raw = normal.original
    found = [m.span() for pattern in (_STRUCK, _OVERLAID) for m in pattern.finditer(raw)] + markup.struck(raw)
    spans = [Span(normal.find(a), normal.find(b)) for a, b in sorted(found)]
    return [s for s in spans if s.end > s.start]


def _monotonous(text: str) -> list[Span]:
    """Long stretches of next to nothing, over and over: looked for before anything else reads the text, since they cost most and say least."""
    if len(text) <= 2 * _BLOCK:
        return []
    found: list[Span] = []
    for start in (*range(0, len(text) - _BLOCK, _BLOCK), len(text) - _BLOCK):
        raw = text[start : start + _BLOCK].encode("utf-8", "surrogatepass")
        if len(zlib.compress(raw, 6)) < _DENSE * len(raw):
            if found and start <= found[-1].end:
                found[-1] = Span(found[-1].start, start + _BLOCK)
            else:
                found.append(Span(start, start + _BLOCK))
    return found


def _tagged(answer: str) -> str:
    """The stretch of the answer that holds invisible tag characters."""
    at = [i for i, c in enumerate(answer) if 0xE0020 <= ord(c) <= 0xE007E]
    return answer[at[0] : at[-1] + 1] if at else ""


def _span_in(whole: Normal, part: Normal, span: Span) -> Span:
    """The same passage in the text before cuts."""
    start = whole.find(part.at[span.start])
    end = whole.find(part.at[min(span.end, len(part.at)) - 1]) + 1
    while end < len(whole.at) and whole.at[end] == whole.at[end - 1]:
        end += 1
    return Span(start, max(end, start + 1))


_WORD = re.compile(r"[a-z0-9_.=!*]+|[\u3400-\u9fff]")


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _shingles(text: str, size: int = 4) -> set[str]:
    """Runs of `size` words (a Chinese character is a word), or the whole where it is shorter."""
    words = _words(text)
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)} or (
        {" ".join(words)} if words else set()
    )


@lru_cache(maxsize=64)
def _source_shingles(source: str, size: int) -> frozenset[str]:
    """A lesson page is long and the same for every answer."""
    return frozenset(_shingles(normalise(source).text, size))


def _scrambled(text: str) -> bool:
    """English words in no order. Of the labelled answers none has more than two dangling words, and those in a hundred; a shuffled one has one in thirty."""
    dangling = len(_DANGLING.findall(text))
    return dangling >= 3 and 60 * dangling >= len(re.findall(r"[a-z]+", text))


# A word that needs another one after it, before one that cannot follow. No "a": it may be the matrix.
_DANGLING = re.compile(
    r"(?<![a-z'])(?:(?:the|an|every|its|their) (?:the|an|of|to|in|on|at|by|for|with|from|is|are|was|were|be|and|or|but|so|that|it|if|because|than|then|as|has|have|will|would|while|when|since|does|do)(?![a-z'-])"
    r"|(?:the|an|its|their|of|with|from|by|into|than) ?(?=[,.;]|$)"
    r"|(?:of|with|from|by|for|at|into|than|to) (?:of|is|are|was|were|and|or|but|so|if|because|has|have|will|would|then|than)(?![a-z'-])"
    r"|(?:is|are|was|were|has|have|will|would|can) (?:is|are|was|were|has|have|will|would|can|and|or|of|because)(?![a-z'-])"
    r"|(?:and|or|but|because|if|which|when|whether|and then) ?(?=[.;,)]|$)|(?:will|would|can|cannot|must|may|could) (?:the|an|of|in|on|at|is|are|to|and|or|from|by|it|its|this|that)(?![a-z'-])"
    r"|(?:and|or|but|whether) (?:and|or|but|of|than)(?![a-z'-]))",
    re.M,
)


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
    return len(
        re.findall(
            r"(?<![a-z0-9_])([a-z0-9_.=*]{3,}(?: [a-z0-9_.=*]+){0,2})(?:[ ,;]+\1)+(?![a-z0-9_])|([\u3400-\u9fff]{2,5})[ ,、]?\2",
            text,
        )
    )


_FUNCTION_WORDS = frozenset(
    "the a an of to in on and or is are be was were it its that this which with by for as at so if when then from not no but has have had will would can may does do each one two than into only".split()
)


@lru_cache(maxsize=1024)  # the rules ask for the same sentence once a link
def term_list(text: str, at_least: int = 1) -> bool:
    """A row of at_least terms: separated by commas or blanks, with nothing that states anything."""
    body = re.sub(r"\([^()]{0,80}\)", lambda m: re.sub("[,;]", " ", m[0]), text)  # (1, -256, 1) is one thing, not three
    body = re.sub(r"^[^,:、]{0,24}:", "", body)
    if _row(body) >= max(at_least, _MANY):
        return True
    pieces = [
        p
        for p in re.split(r"\s*[,、;|&:]\s*|\s[/+]\s", body)
        if _LETTER.search(p) and not re.fullmatch(r"\w+=[\w.()'\"+-]+", p.strip())
    ]
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


def _row(body: str) -> int:
    """Number of terms in a row that is nothing but terms: one word each, or a few characters, whatever verbs are among them."""
    pieces = [p for p in re.split(r"\s*(?:[,、;|&]|->)\s*", body) if _LETTER.search(p)]
    short = sum(len(_words(p)) <= (1 if p.isascii() else 6) for p in pieces)
    return len(pieces) if short >= 0.8 * len(pieces) else 0


def _states(piece: str) -> bool:
    if _VERBAL.search(piece) or _RESULT.search(piece) or _VERB_BETWEEN.search(piece) or _FORMULA.search(piece):
        return True
    return bool(_LONG_CHINESE.search(piece) and _WEAK_VERB.search(piece))


_GLUE = re.compile(r"(?<![a-z])(?:the|an?|to|of|in|on|by|for|with|or|its?|this|these|own|from|at|than|not|no)(?![a-z])")
