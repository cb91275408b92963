"""Does the answer hold anything that could turn it as a whole, and that no rule has read?

polarity.py reads denials within a sentence and disowned.py the common ways to take a whole text back. There are endless others ("Myth: ...",
"... said nobody ever", "❌", "以上作废"). So nothing is released that is not accounted for: every sentence must speak of the subject, in words
the rubric knows, or be one of the plain remarks that turn nothing; and no words of stance may stand beside it. What is left over costs no
points: a person reads the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.answers.normalise import Normal
from autograder.answers.segment import Sentence
from autograder.lesson.rubric import Rubric

_SOURCE = r"(?:the )?(?:nvidia )?(?:ptx (?:isa|manual)|cuda (?:c\+\+ )?(?:programming|best practices) guide|cuda (?:手册|文档)|cutlass(?: (?:docs|documentation|文档))?|hopper (?:tuning guide|white ?paper)|h[12]00 (?:datasheet|white ?paper))(?: [\d.]{1,6})?"
# Remarks that turn nothing: how it was checked, headings, numbering, thanks, gaps that the student admits.
_PLAIN = re.compile(
    r"(?:(?:我|仅|只|这里)?(?:在|用|做了?|没有?|还没|未)?[^,。;]{0,14}?(?:静态(?:审查|检查|分析|阅读)|模拟器|断言|没有?\s?(?:实际)?(?:运行|跑|测|gpu|计时)|跑过|运行过|跑通)[^。;]{0,24})"
    r"|(?:其他|其它|其余|另外|另一边|后面|别的|性能方面)[^,。;]{0,8}(?:不太?清楚|没想明白|没太?看懂|不会|不知道)"
    r"|(?:(?:先|再|首先|最后)?(?:说|讲|谈|看)?)?(?:输入|输出|状态变化|变化|正确性|性能|结论|原因|后果|代价|理由|边界|解释|机制|步骤|第?[一二三四五六1-9][步点个种]?|两个坏处|两种情况|总之|综上|以上|完)"
    r"|(?:我的?(?:答案|回答|理解|解答|想法)(?:是|如下)?|第[一二三四五六七八九十\d]+[题问]|一句话|(?:回答|作答)如下|嗯|姓名[^。;]{0,30}|[^,。;]{0,8}(?:搞懂|看懂|弄懂|明白)了|[^,。;]{0,20}(?:写得很清楚|讲得很清楚|拼错|重读之后明白了|最终版|这题我会)[^,。;]{0,12}|(?:题目|问题|问)|作业如下|答案?(?:如下)?)"
    r"|[^,。;]{0,12}(?:你好|您好|老师好|同学好|早上好|晚上好|下午好|谢谢|感谢|辛苦|抱歉|不好意思|打扰)[^。;]{0,14}|[^。;]{0,16}(?:排版|格式|错别字|字数|咖啡|想通了|想明白了)[^。;]{0,20}"
    r"|(?:要点|关键点|展开|说明|序号|备注|解释|实现解释|(?:no|text|point|points|key points?|item|items|summary|details?|notes?|explanation)(?: \d{1,2})?)"
    r"|(?:(?:--?|—+)\s?)?(?:[\u4e00-\u9fff]{2,4}|[a-z]{2,20} [a-z]{2,20})[, ]{1,2}(?:学号:?\s?)?[a-z]?\d{5,14}"  # signed
    rf"|(?:参考|参见|参阅|出处|来源|资料|见|see|source|sources|reference|references|cf\.?)\s?:?\s?(?:{_SOURCE})(?:\s?(?:[,/、]|和|and)\s?(?:{_SOURCE}))*"
    r"|(?:用|拿|和|跟)[^,。;]{0,16}(?:看过|对过|验证过|核对过|确认过|一致)[^。;]{0,16}"
    r"|(?:(?:only |just )?(?:a )?static (?:review|check|analysis)(?: only)?|(?:i )?(?:only )?(?:ran|run|tried|checked)(?: it)?(?: only)?(?: on| in| with)? (?:the |a )?(?:cpu )?(?:emulator|asserts?|laptop)[^.;]{0,40}|no gpu[^.;]{0,20}|not (?:run|measured|timed)[^.;]{0,20})"
    r"|(?:input|output|state change|state|effect|mechanism|cause|correctness|performance|cost|boundary|conclusion|reason|first|second|third|finally|part|two (?:failure modes|problems|things|reasons|cases))[ a-z]{0,12}"
    r"|(?:my|the|an?) (?:own |boundary |edge |hard |wrong |right )?(?:case|example|input|prediction|experiment|test)s?|我?的?(?:边界|例子|反例|用例|判断|依据|[选判]错的例子|决定对错(?:的情形)?)"
    r"|(?:hello|hi|hey|dear|good (?:morning|evening|afternoon)|best regards|kind regards|cheers|thanks|thank you|many thanks|sorry|apologies|please excuse|excuse|hope)[^.;:]{0,60}"
    r"|(?:q ?\d|tl;dr|bottom line(?: first)?|final version[a-z, ]*|name)|(?:here is |this is |here's )?(?:my (?:answer|response|take|understanding|explanation|try)|question|answer|the question)(?: is| was| to [a-z0-9 ]{1,20})?|english is not my[^.;]{0,60}|[^.;:]{0,40}(?:typos?|grammar|formatting|coffee)[^.;:]{0,40}"
    r"|(?:checked|verified|confirmed|tested)[^.;]{0,60}"
    r"|(?:i (?:do not|don't) know|not sure) about [a-z ]{3,24}|\W*[a-d1-9ivx]{0,3}\W*"
)
_SIGN = re.compile(r"[❌✗✘☓⛔❎]|(?![👍🙏😊🙂😀😃😄😁🎉💪🚀💡📌📍📝📖📚🔑🔍🧠🧩🎯🌟🔥🔧])[\U0001f300-\U0001faff]|^\s*(?://|#!|-{3,}[ \t]*[a-z\u4e00-\u9fff])|^\s*[(\[][fFxX]?\s*[)\]](?!\()|(?:^|\s)/s(?=\s*(?:$|\)))|[(\[（]\s*[×✕]\s*[)\]）]|^\s*[×✕]|^\s*[-*]\s*\[ \]|<summary(?![a-z])", re.M)  # what is folded away under a title ("old")
_ASKS = re.compile(r"(?:^|[.。!;:\n])(?!\s*(?:why|how|what|when|which|where|为什么|为何|怎么|何时|什么))[^.。!;\n?？]*[?？]|吗(?=[,。;!]|\s*$)|难道|是不是(?=因为|这样|对|[,。?]|\s*$)|(?:^|[。;!]\s*)是不是|对不对(?=[,。?!]|\s*$)|(?<![a-z])(?:or is it not|could it be)(?![a-z])", re.M)
# Words about the text, its writer or its truth. None of them belongs to a mechanism; a few more are taken where the sentence says nothing else.
_STANCE = re.compile(
    r"怀疑|否认|愚人节|倘若|反话|扣分|才发现不对|[☐☑]\s*(?:正确|错误|对|错)|〖|不认(?!识)|不敢|(?:都|全)反了|反证|反派|揭穿|太阳从|凑字数|没有(?:任何)?依据|做梦|梦到|打死我|绝对不(?:会|是)|恰恰是|需要否定|划掉|待删|别的显卡|本题[^,。;]{0,8}不|都没看懂|很难说|也许[^。;]*(?:但|可是)|信不信|假设[^。;]{0,40}矛盾|存疑|不(?:信|认可|认同|赞同|同意)(?!号)|收回|(?:^|[:。;,!(\[]\s*|以上|上面|上述|全部|全都|答案|全)(?:都|全部|全)?作废|当我没|没说过|忽略(?:以上|上面|我|本)|请忽略|室友|舍友|我的?(?:同学|朋友)|[位个](?:同学|朋友)|老师(?:说|讲|上课)|网友|网上|(?<![a-z])(?:ai|chatgpt|gpt|deepseek|copilot|claude|gemini|llm)(?![a-z])"
    r"|抄(?:的|自|来|袭|了)|[照我]抄|据说|传说|听说|谣言|造谣|胡(?:扯|说|诌)|瞎(?:编|猜|说|写|蒙)|乱(?:编|写|猜)|我猜|猜的|蒙的|骗(?:你|人)|玩笑|逗你|才怪|鬼才|鬼话|呵呵|怎么可能|(?:恰|正)(?:恰|好)?相反|完全相反|推敲|事实不符|并非如此|不是这样|相信|证据表明|谁说|别信|颠倒|倒过来|反过来(?:理解|读|看|才)"
    r"|反面教材|(?:错误|典型|坏|错)(?:示范|答案|说法|例子|解法?|观点)|错解|(?:我|上面|以上|前面|全|都|知道)[^,。;]{0,3}(?:想|写|弄|搞|记|说|答)错|(?:这样|这么)(?:答|写|想)|(?:学生|人)会(?:写|说|答)|误区|草稿|假如|(?:这个|上述|此)假设|判断题|正方|反方|支持反方|(?:每|任何)一?句|(?:这|那|上面|以上|下面|前面)[^,。;]{0,4}句话|(?:这|那)种说法|一种说法|课(?:本|文)|我才不会|肯定不是|排除(?=[:,])|正确答案(?!是\s?[-\d])[^,。;]{0,6}(?:不|相反)|我的(?:看法|观点)|(?:以下|下面|以上|上面|上述|前面|框里|引用)(?:的)?(?:这|那)?(?:都|全|些|段|句|内容|部分|说法|答案|文字|写)|现在的?不是|上不是|不适用|(?:这些|上述)[^,。;]{0,8}不会(?:发生|出现)|其实(?:并|都|根本)?(?:不|没)(?:是|会|对)"
    r"|(?<![a-z])(?:doubt\w*|den(?:y|ies|ied)|disbelie\w+|(?:not|n't|hard|refuse|refuses) (?:to )?believe|what i believe|believe (?:it|this|that)(?= is| was|\.)|disagree\w*|object to|(?:not|n't) buy|any of it|retract\w*|withdr[ae]w\w*|scratch that|take (?:it|that|this|everything) back|(?:room|class|team)mates?|friends?|(?:my|his|her|a) neighbou?r|chatgpt|copilot|reddit|wikipedia|copied (?:from|this|it)|copy of|"
    r"myths?|legends?|rumou?rs?|fairy ?tales?|jok(?:e|es|ing)|kidding|sarcas\w+|ironic\w*|(?:all|are|just|pure) lies|lies(?=[!.])|liars?|bullshit|rubbish|nonsense|hoax|made (?:it|this|that|all of (?:it|this)) up|make (?:it|this) up|guess(?:es|ing)?|dunno|implausible|opposite day|(?:the )?(?:opposite|contrary|reverse) of|the contrary|other way a?round|in contrast to what|unlike what|blunder\w*|(?:was|were|am) mistaken|"
    r"draft|errata|erratum|ignore (?:my|this|the|all|everything)|disregard|imagin\w+|pretend\w*|hypothetical\w*|sake of argument|counter ?example|how not to|nobody (?:should|would|ever|says?|said|believes?)|none of (?:it|this|that|these|the above|them)(?=\)| (?:is|are|was|were|holds?|appl\w+|happens?|true))|nothing of|in truth|in reality|refut\w+|(?:wrong|bad|incorrect|false) (?:answers?|claims?|statements?|examples?)|(?:^|[.:;!]\s*)not true|untrue|"
    r"true or false|verdict|statements?|every (?:word|sentence)|each sentence|(?:whole|wrong|of an|of the|delete the) answers?|^answer: (?:no|false|wrong)|to get my answer|(?:the )?(?:above|following|quoted|preceding) (?:is|are|was|text|answer|paragraph|held|were)|the following(?=[.:?]| (?:is|are|was|were|held|text|statement))|the text|my (?:own )?(?:view|opinion)|they say|one says|i claim|were i|if i were|(?:used to|once|originally) (?:think|believe|thought|believed)|i (?:used to|thought)|(?:is|are|all|/) incorrect$|fixme|deprecated|wrong thing|got wrong|crossed out|so-called|mistake to (?:conclude|think|believe|say|write|claim)|misconceptions?|contradiction|supposition|contrary to|far from it|no longer (?:true|applies|holds|works)|years ago|(?:could|can|might) fly|i wish|queen of|i'm the|certainly (?:isn't|not)|isn't it|not my (?:view|opinion|answer|words)|(?:lab )?partner|refuse to|nobody has|not the case|(?:do not|don't) believe|if i (?:believed|thought|said)|mistaken|struck|universe|the lie|villain|lying|lied|eliminated\.|yeah|or so (?:they|i)|believe anything|lose marks|a coin|said no|not understood|cpus|amd|intel|tpus?|apply to gpus|built differently|old(?:er)? gpus?)(?![a-z])"
)
# A negation that English puts first, with the verb before its subject, denies all that follows: "By no means does ...", "Never has ...".
_INVERTED = re.compile(
    r"(?:^|[.;:!]\s*|(?<![a-z])that )(?:(?:and|but|so),? )?(?:(?:by|under|in|on|at|to|for|from) (?:absolutely )?no (?!c(?![a-z])|way to)[a-z]+|not (?:for|in|by|under|on|at|once|ever|until|since)(?: [a-z]+){0,4}"
    r"|(?:never|seldom|rarely|little|nowhere|hardly|scarcely|barely)(?: before| ever| again| yet)?) (?:has|have|had|is|are|was|were|do|does|did|will|would|can|could|should|shall|may|might|must)(?![a-z])"
    r"|(?:^|[.;:!]\s*)(?:by no (?:means|stretch)|(?:under|in) no (?:circumstances?|conditions?|way|case|event|sense)|on no (?:account|condition)|at no (?:time|point))(?![a-z])",
    re.M,
)
_BARE = re.compile(r"[对错真假反否非]|不|没|(?<![a-z])(?:wrong|false|true|right|incorrect|correct|not|no|nope|never|nothing|none|sorry|opposite|contrary|edit|update|wait|actually|maybe|perhaps|possibly)(?![a-z])")
# What a bare verdict is made of beside its verdict: it names nothing of the subject.
_EMPTY = re.compile(
    r"[的是了都全这那些个里上下面皆均也就很吧呢啊嘛框说法写答案回应该错误样典型判断断请别要只例子做]|(?<![a-z])(?:it|this|that|these|those|they|is|are|was|were|be|all|what|so|the|a|an|of|in|above|below|here|just|simply|completely|totally|quite|really|how|yes|answer|to|do|does)(?![a-z])"
)
_LABEL = re.compile(r"(?!(?:correct|right|true|对|真)\s*:)(?:[a-z]+(?: [a-z]+)?|[\u4e00-\u9fff]{1,6})\s*:")  # "False: ...", "典型错误：……"
_SHORT = 6  # words or pairs of characters: a bare verdict ("This is all false.", "事实并非如此")
_HEAD = 60  # characters before a colon that announce what follows
_WORD = re.compile(r"[a-z][a-z0-9_]{2,}|[\u4e00-\u9fff]+")


class Subject:
    """What a rubric speaks of: the words of its texts, and every expression of its rules."""

    def __init__(self, rubric: Rubric, expressions: Iterable[re.Pattern]):
        self._expressions = list(expressions)
        self._words = frozenset(units(" ".join(_texts(rubric)).lower()))

    def named(self, text: str) -> bool:
        """Does an expression of some rule stand in it?"""
        for n, x in enumerate(self._expressions):
            if x.search(text):
                if n:  # what was found lately is found again: the order decides nothing but the time
                    self._expressions.insert(0, self._expressions.pop(n))
                return True
        return False

    def known(self, text: str) -> float:
        """The share of its words that the rubric uses, 0..1."""
        mine = list(units(text))
        return sum(u in self._words for u in mine) / len(mine) if mine else 0.0


def units(text: str) -> Iterable[str]:
    """Words of three letters and more, and pairs of Chinese characters."""
    for m in _WORD.finditer(text):
        if m[0][0].isascii():
            yield m[0]
        else:
            yield from (m[0][i : i + 2] for i in range(max(1, len(m[0]) - 1)))


def _texts(rubric: Rubric) -> Iterable[str]:
    def strings(x: object) -> Iterable[str]:
        if isinstance(x, str):
            yield x
        elif isinstance(x, dict):
            for v in x.values():
                yield from strings(v)
        elif isinstance(x, (list, tuple)):
            for v in x:
                yield from strings(v)

    return strings(rubric.model_dump(exclude={"lesson"}))


def _verdict(said: str) -> bool:
    """Does it say right or wrong, yes or no, and nothing else?"""
    return bool(_BARE.search(said)) and not _WORD.search(_EMPTY.sub(" ", _BARE.sub(" ", said)))


@dataclass(frozen=True)
class Aside:
    """A piece of an answer that is not accounted for, as the student wrote it. stance: it speaks of the text itself or of its truth, or it
    asks."""

    text: str
    stance: bool


def plain(said: str) -> bool:
    """Is it one of the remarks that turn nothing, or a question that opens an answer (_ASKS reads the others)?"""
    return said.endswith("?") or all(_PLAIN.fullmatch(piece.strip(" .,:;!。#*>")) for piece in said.split("|"))


def aside(normal: Normal, sents: list[Sentence], subject: Subject) -> Aside | None:
    """The first such piece, None where there is none."""
    text = normal.text
    if m := _SIGN.search(normal.original):
        return Aside(normal.original[m.start() : m.start() + 80], True)
    for pattern in (_ASKS, _STANCE, _INVERTED):
        if m := pattern.search(text):
            return Aside(next((normal.quote(s.start, s.end) for s in sents if s.start <= m.start() < s.end), normal.quote(m.start(), m.start() + 80)), True)
    for s in sents:
        said = text[s.start : s.end]
        if _verdict(said) or _LABEL.match(said) and _verdict(said.partition(":")[0]):
            return Aside(normal.quote(s.start, s.end), True)
        if all(_PLAIN.fullmatch(piece.strip(" .,:;!。")) for piece in said.split("|")):  # a table's head names its columns
            continue
        head, colon, _ = said.partition(":")
        if colon and len(head) <= _HEAD and any(units(head)) and not (_PLAIN.fullmatch(head.strip(" .,#*>")) or subject.named(head) or subject.known(head) >= 0.5):
            return Aside(normal.quote(s.start, s.end), False)
        if subject.named(said):
            continue
        if subject.known(said) < 0.5 or (len(list(units(said))) <= _SHORT and _BARE.search(said)):
            return Aside(normal.quote(s.start, s.end), False)
    return None
