"""Sentences of an answer that claim, of the writer and of the past, that something was run or measured.

Not claims: denials ("not run", "static review only"), plans, suppositions, questions, instructions, and what is quoted from the lesson or
another source. What a tool is said to report, or a run on hardware is said to have given, is such a claim too, and never a sure one: it
may be the lesson's, told without its source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.grading.sentences import Sentence, sentences, statement

NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
# A figure that a clock, a profiler or a counter gives; shares and factors count when they stand beside a claim.
TIME_OR_RATE = (
    r"(?:ms|us|µs|μs|ns|s\b|sec\b|seconds?|毫秒|微秒|纳秒|秒|[GT]B/s|[TG]FLOP/?s?|TFLOPS|GFLOPS|cycles?|周期)"
)
FIGURE = re.compile(rf"{NUMBER}\s*(?:{TIME_OR_RATE}|%|x\b|×|倍|times\b|个百分点)", re.I)
# Only a clock gives these; shares and factors are worked out of them. A range gives its unit once.
CLOCKED = re.compile(
    rf"(?P<first>{NUMBER})\s*(?:-|–|~|to|and|或|到|至|和|降到|升到|变成|→|->)\s*(?={NUMBER}\s*{TIME_OR_RATE})|(?P<figure>{NUMBER})\s*{TIME_OR_RATE}",
    re.I,
)

# The writer says he ran or measured it. Every phrase is past and of one's own.
_ZH_CLAIM = re.compile(
    r"实测(?!试)|(?:我|我们|本人|自己|亲自|亲手)[^，。；！？\n]{0,24}?(?:测了|测得|测到|测出|量了|量得|跑了|跑出|跑过|跑完|运行了|运行过|运行得|试了|试过|测试了|测试过|验证了|验证过|profile了?|benchmark了?)"
    r"|(?:测得|测出来|测下来|跑下来|跑出来|跑了一[遍下次]|跑分|测试结果[是为显：:]|测量结果[是为显：:]|运行结果[是为显：:]|实际运行(?:输出|结果|后|下来)|运行(?:输出|之后|后)[^，。；\n]{0,6}(?:显示|得到|是|为|输出)|运行后(?:输出|得到)|Nsight[^。\n]{0,20}(?:显示|看到|测)"
    r"|经过?(?:实际)?(?:测试|测量|实验)|(?:测试|测量|实验|benchmark|profil\w*)(?:的?结果)?(?:表明|显示|得出))"
)
_EN_CLAIM = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have|\s+also|\s+then|\s+just|\s+actually)*\s+(?:ran|run\s+(?:it|this|both|the)|measured|timed|benchmarked|profiled|tested|executed|observed|tried|verified|clocked|recorded|got\s+\d)"
    r"|\bmy\s+(?:own\s+)?(?:measurements?|benchmarks?|runs?|timings?|profil\w+|tests?)\s+(?:shows?|showed|gave|gives|is|was|were|are|confirms?|confirmed|came|printed|took)\b"
    r"|\bwhen\s+(?:i|we)\s+(?:ran|measured|timed|tested|executed|tried)\b|\bon\s+my\s+(?:own\s+)?(?:machine|gpu|laptop|card|\w*\d{2,4}\w*)\b"
    r"|\b(?:the|its)\s+(?:measured|actual)\s+(?:output|result|time|speed|figure|value)s?\s+(?:is|was|were|are)\b|\b(?:running|ran)\s+(?:it|this|the\s+\w+)\s+(?:gave|gives|printed|showed|took)\b"
    r"|\bthe\s+(?:run|output|profiler|program|cell|notebook|benchmark)\s+(?:printed|showed|gave|reported)\b|\bas\s+measured\s+(?:by\s+me|here|on)\b|\b(?:was|were)\s+measured\s+(?:by\s+me|here|on\s+(?:my|an?|the))\b|\bmeasured\s+on\s+(?:my|our)\b"
    r"|\b(?:benchmarking|profiling|timing|measurements?|experiments?)\s+(?:it\s+)?(?:shows?|showed|gave|gives|confirms?|confirmed|reveals?|revealed)\b|\bin\s+my\s+(?:own\s+)?(?:experiments?|tests?|measurements?|runs?)\b"
    r"|^\W*(?:measured|timed|benchmarked|profiled)\b",
    re.I,
)
CARD = r"(?:[HABV]\d{3}|GB?200|T4|L4|L40S?|RTX\s*\d+|[345]0[5-9]0(?:\s*Ti)?|GPUs?|graphics\s+card|显卡)"
TOOL = r"(?:profiler|nsight(?:\s+(?:compute|systems))?|ncu|nsys|nvprof|compute-sanitizer|ptxas|cuobjdump|性能分析器|分析器|剖析器)"
# What a tool reports, in the present too; and a run on hardware whose doer is left out.
_EN_TOLD = re.compile(
    rf"\b{TOOL}\s+(?:(?:output|report|also|then|now)\s+)?(?:reports|reported|shows|showed|prints|printed|gives|gave|says|said|lists|listed|finds|found|counts|counted)\b",
    re.I,
)
_ZH_TOLD = re.compile(rf"{TOOL}[^。，；\n]{{0,12}}?(?:报告|报出|显示|给出|列出|输出|看到|测得|说)", re.I)
_EN_ON_CARD = re.compile(rf"\bon\s+(?:(?:an?|the|my|our|one|real|actual|nvidia|school'?s?)\s+){{0,4}}{CARD}\b", re.I)
_ZH_ON_CARD = re.compile(rf"{CARD}(?:\s*(?:GPU|显卡|卡))?\s*上", re.I)
_EN_RAN = re.compile(
    r"^\W*(?:tested|ran|executed|verified|validated|checked|confirmed|tried|works?|worked|passes|passed|all\s+\w+\s+(?:pass|passed|agree|agreed))\b|\b(?:was|were|been)\s+(?:tested|run|executed|verified|validated|checked|tried)\b",
    re.I,
)
_ZH_RAN = re.compile(
    r"(?:测试|验证|运行|试|跑|测)(?:过|了|通|完)|(?:测试|验证|运行|跑|测)(?:[：:]|(?:结果|下来)?(?:全部|全|都|均|通过|一致|正确))"
)
# A result: a number that is not part of a name, or the lack of something.
PLAIN_NUMBER = rf"(?<![A-Za-z_\d.,]){NUMBER}"
_RESULT = re.compile(rf"{PLAIN_NUMBER}|\b(?:no|zero|all|every)\s|没有|零|全部|无(?!法)", re.I)
# A tool that reports something whenever it runs, or one that was not asked.
_EN_IN_GENERAL = re.compile(
    r"\b(?:when(?:ever)?|once|as\s+soon\s+as|every\s+time|usually|typically|often|always|can|not|never|without|no\s+(?:gpu|card|profiler)|don't|didn't|doesn't|emulator|cpu|let|ask|see|check)\b",
    re.I,
)
_ZH_IN_GENERAL = re.compile(
    rf"(?<![相应适])当(?!前)|一旦|每次|通常|一般|往往|总是|会|(?<!性)能|才|再|时\W*$|请|让|看看|模拟器|CPU|(?:没|未|不|无)[^，。；\n]{{0,24}}(?:{TOOL}|{CARD})",
    re.I,
)
# Beside a claim: what the hardware could do, which nobody measures.
REFERENCE = re.compile(
    r"\b(?:peak|theoretical\w*|ideal\w*|limit|ceiling|roof(?:line)?|bound|spec\w*|nominal|datasheet|target|budget|at\s+best)\b|峰值|理论|理想|上限|标称|规格|屋顶|目标|预算|最多",
    re.I,
)
BESIDE = re.compile(
    r"[，,；;：:（）()]|\b(?:but|against|than|of(?=\s+(?:the|its|an?)\b)|whereas|while|versus|vs|instead)\b|[而但比占]"
)
# Weak words: running the visible asserts leaves no output behind, and "tested", "verified" are often said of thinking it through.
_WEAK = re.compile(r"(?:assert|断言|检查|单元格|\bcells?\b|\bchecks?\b|notebook|笔记本)", re.I)
_RUN_WORDS = re.compile(
    r"实测|测得|测出|测了|测到|量了|跑分|measured|timed|benchmark|profil|clocked|recorded|运行结果|测量结果|测试结果|运行输出|实际运行|测试|测量|实验|\bran\b|\btook\b|跑|运行",
    re.I,
)

_ZH_DENIAL = re.compile(
    r"(?:没有?|没能|未|未曾|从未|尚未|并未|无法|不能|没法|没条件|没有条件|不曾|并不是|并非|不是|不算)[^，。；！？\n]{0,10}?(?:实测|运行|跑|测量|测试|测过|测出|测得|验证|测)"
    r"|静态审查|静态分析|静态检查|仅凭?(?:静态|阅读|推导|推理)|只是推(?:导|断|测)|(?:非|无)实测"
)
_EN_DENIAL = re.compile(
    r"\bstatic(?:ally)?\s+(?:review|analysis|inspection|reading)\b|\b(?:did\s+not|didn't|do\s+not|don't|have\s+not|haven't|has\s+not|hasn't|was\s+not|wasn't|were\s+not|weren't|could\s+not|couldn't|cannot|can't|never|unable\s+to|without|not|no)\b[^.;!?\n]{0,30}?\b(?:ran|run|running|measur\w+|tim(?:ed|ing)|execut\w+|test(?:ed|ing)?|benchmark\w*|profil\w+|access)\b|\bnot\s+measured\b",
    re.I,
)
_ZH_SUPPOSED = re.compile(
    r"如果|假如|假设|倘若|要是|若(?!干)|应该|应当|大概|大约会|预计|预期|估计|推测|推断|理论上|按理|可能会|将会|打算|准备(?:去|要|在)|计划|想要|需要(?:去|先|再)?(?:实测|测|跑|运行)|(?:必须|要|应|可以|可|建议|最好|还得|得|值得|有待|等待|等|再|去|先|通过|靠|用|以|凭|做)(?:亲自|自己|先|去|再|用)?(?:实测|测量|测试)|实测(?:才|一下|来|再|之前|前|为准|过才|的话|确认|验证)|怎么测|如何测|是否"
)
_EN_SUPPOSED = re.compile(
    r"\b(?:if|would|should|could|might|may|expect(?:ed|s)?|predict(?:ed|s)?|suppose|assume|assuming|plan(?:ned)?|intend|going\s+to|will|shall|ought|need(?:s|ed)?\s+to|must|have\s+to|has\s+to|one\s+can|you\s+can|to\s+be\s+(?:measured|run|tested)|in\s+theory|presumably|unless|until|whether|hypothetical\w*|imagine)\b",
    re.I,
)
_ZH_QUOTED = re.compile(
    r"本课|课程|课文|课上|课里|讲义|教材|页面|文中|原文|图\s*\d|图表|表\s*\d|作者|老师|教师|官方|论文|文献|资料|参考答案|文档|博客|README|NVIDIA|CUTLASS|DeepSeek|(?<![数证依占])据(?!此)|引用|给出的|提供的|公布|报告(?:中|里)|所列|上文|前文",
    re.I,
)
_EN_QUOTED = re.compile(
    r"\b(?:lesson|course|page|text|figure|fig\.|table|plot|chart|notes|author|teacher|instructor|lecture|paper|documentation|docs|blog|article|literature|README|NVIDIA|CUTLASS|DeepSeek|according\s+to|cited|quoted|reported\s+(?:by|in)|published|it\s+says|above)\b",
    re.I,
)
OWN = re.compile(r"我|本人|自己|亲自|亲手|\b(?:i|we|my|our)\b", re.I)
GPU = re.compile(
    r"\b(?:H100|H200|H800|A100|A800|B200|GH200|V100|T4|L4|L40S?|RTX\s*\d+|[345]0[5-9]0(?:\s*Ti)?|GPU|显卡|on\s+the\s+card)\b|显卡|[345]0[5-9]0",
    re.I,
)

_SOURCED = re.compile(r"[\"“「『]")


@dataclass(frozen=True)
class Claim:
    """A sentence that claims a run or a measurement. sentence: folded; quote: as the student wrote it. sure: nothing in it softens that.
    own: it says "I". figure: it names a figure. gpu: it names a GPU. told: it is what a tool is said to report. on_gpu: the run itself is
    said to have been on a GPU."""

    sentence: str
    quote: str
    slot: str
    sure: bool
    own: bool
    figure: bool
    gpu: bool
    told: bool = False
    on_gpu: bool = False


def claims_in(text: str, slot: str = "") -> tuple[Claim, ...]:
    """Every claim in a text."""
    return tuple(claim for sentence in sentences(text) if (claim := claim_of(sentence, slot)) is not None)


def declares_static_review(text: str) -> bool:
    """Does the text say that nothing was run? ("仅静态审查" / "static review only")"""
    return bool(
        re.search(
            r"(?:仅|只|只做了?|仅做了?)?静态(?:审查|分析|检查)|\bstatic(?:ally)?\s+(?:review|analysis|inspection|reading)|(?:没有|未|没)(?:实际)?(?:运行|跑)|\b(?:not|never|n't)\s+(?:been\s+)?(?:run|ran|executed)\b",
            text,
            re.I,
        )
    )


def claim_of(written: Sentence, slot: str = "") -> Claim | None:
    """Clause by clause: "not run, but the lesson measured 1.4x" has no claim; "I expected 6, but measured 7" has one."""
    sentence = statement(written.text)
    strong = hit = told = on_gpu = False
    surely = False  # by one of the phrases that are sure of their own
    for clause in re.split(r"[，,；;]|\bbut\b|\bhowever\b|但是?|不过|然而", sentence):
        plain = bool(_ZH_CLAIM.search(clause) or _EN_CLAIM.search(clause))
        tool, card = _told(clause), _on_card(clause, plain)
        if not (plain or tool or card) or denied(clause):
            continue
        quoted = quotes(clause) and not OWN.search(clause)
        if quoted and not plain:
            continue  # the lesson's profiler, beside a claim of one's own
        if quoted:
            return None
        hit = True
        softened = supposed(clause)
        strong = strong or not softened
        surely = surely or (plain and not softened)
        told, on_gpu = told or (tool and not softened), on_gpu or (card and not softened)
    if not hit or not strong or (quotes(sentence) and not OWN.search(sentence)):
        return None
    figure = bool(FIGURE.search(sentence))
    weak = bool(_WEAK.search(sentence)) and not figure
    sure = (
        not weak
        and not supposed(sentence)
        and not _SOURCED.search(sentence)
        and not written.code
        and sentence == written.text
    )
    own = bool(OWN.search(sentence))
    sure = sure and surely and (own or figure) and bool(_RUN_WORDS.search(sentence))
    return Claim(
        sentence, written.quote, slot, sure, own, figure, bool(GPU.search(sentence)), told and not surely, on_gpu
    )


def _told(clause: str) -> bool:
    """Does it say what a tool reported of this program? Not what it reports in general."""
    told = (_EN_TOLD.search(clause) and not _EN_IN_GENERAL.search(clause)) or (
        _ZH_TOLD.search(clause) and not _ZH_IN_GENERAL.search(clause)
    )
    return bool(told and _RESULT.search(clause))


def _on_card(clause: str, plain: bool) -> bool:
    """Does it say that the writer ran something on a GPU? plain: that something was run or measured is known, if not by whom."""
    plain = plain and bool(OWN.search(clause))
    if _EN_ON_CARD.search(clause) and not _EN_IN_GENERAL.search(clause):
        return plain or bool(_EN_RAN.search(clause))
    return (
        bool(_ZH_ON_CARD.search(clause))
        and not _ZH_IN_GENERAL.search(clause)
        and (plain or bool(_ZH_RAN.search(clause)))
    )


def in_general(clause: str) -> bool:
    """Does it say what happens whenever something is run, or what was not run?"""
    return bool(_EN_IN_GENERAL.search(clause) or _ZH_IN_GENERAL.search(clause))


def denied(clause: str) -> bool:
    return bool(_ZH_DENIAL.search(clause) or _EN_DENIAL.search(clause))


def supposed(clause: str) -> bool:
    return bool(_ZH_SUPPOSED.search(clause) or _EN_SUPPOSED.search(clause))


def quotes(clause: str) -> bool:
    """Does it name the lesson or another source?"""
    return bool(_ZH_QUOTED.search(clause) or _EN_QUOTED.search(clause))
