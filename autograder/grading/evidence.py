"""Claims of having run or measured something, held against what the notebook shows: outputs, execution counts, receipts.

A claim is a sentence that asserts, of the writer and of the past, that something was run or measured. Not claims: denials ("not run",
"static review only"), plans, suppositions, questions, instructions, and what is quoted from the lesson or another source.
Sure of the claim and nothing at all to show for it: a veto. Anything short of sure: a person looks. What a tool is said to report, or a
run on hardware is said to have given, is such a claim too, and never a sure one: it may be the lesson's, told without its source.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from autograder.grading.read import Reading
from autograder.lesson.rubric import Text
from autograder.records import Finding

MAX_SENTENCE = 600

_SENTENCE = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)(?=\s+[A-Z\"'(])")
_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
# A figure that a clock, a profiler or a counter gives; shares and factors count when they stand beside a claim.
_TIME_OR_RATE = r"(?:ms|us|µs|μs|ns|s\b|sec\b|seconds?|毫秒|微秒|纳秒|秒|[GT]B/s|[TG]FLOP/?s?|TFLOPS|GFLOPS|cycles?|周期)"
_FIGURE = re.compile(rf"{_NUMBER}\s*(?:{_TIME_OR_RATE}|%|x\b|×|倍|times\b|个百分点)", re.I)
# Only a clock gives these; shares and factors are worked out of them. A range gives its unit once.
_CLOCKED = re.compile(rf"(?P<first>{_NUMBER})\s*(?:-|–|~|to|and|或|到|至|和|降到|升到|变成|→|->)\s*(?={_NUMBER}\s*{_TIME_OR_RATE})|(?P<figure>{_NUMBER})\s*{_TIME_OR_RATE}", re.I)

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
_CARD = r"(?:[HABV]\d{3}|GB?200|T4|L4|L40S?|RTX\s*\d+|[345]0[5-9]0(?:\s*Ti)?|GPUs?|graphics\s+card|显卡)"
_TOOL = r"(?:profiler|nsight(?:\s+(?:compute|systems))?|ncu|nsys|nvprof|compute-sanitizer|ptxas|cuobjdump|性能分析器|分析器|剖析器)"
# What a tool reports, in the present too; and a run on hardware whose doer is left out.
_EN_TOLD = re.compile(rf"\b{_TOOL}\s+(?:(?:output|report|also|then|now)\s+)?(?:reports|reported|shows|showed|prints|printed|gives|gave|says|said|lists|listed|finds|found|counts|counted)\b", re.I)
_ZH_TOLD = re.compile(rf"{_TOOL}[^。，；\n]{{0,12}}?(?:报告|报出|显示|给出|列出|输出|看到|测得|说)", re.I)
_EN_ON_CARD = re.compile(rf"\bon\s+(?:(?:an?|the|my|our|one|real|actual|nvidia|school'?s?)\s+){{0,4}}{_CARD}\b", re.I)
_ZH_ON_CARD = re.compile(rf"{_CARD}(?:\s*(?:GPU|显卡|卡))?\s*上", re.I)
_EN_RAN = re.compile(r"^\W*(?:tested|ran|executed|verified|validated|checked|confirmed|tried|works?|worked|passes|passed|all\s+\w+\s+(?:pass|passed|agree|agreed))\b|\b(?:was|were|been)\s+(?:tested|run|executed|verified|validated|checked|tried)\b", re.I)
_ZH_RAN = re.compile(r"(?:测试|验证|运行|试|跑|测)(?:过|了|通|完)|(?:测试|验证|运行|跑|测)(?:[：:]|(?:结果|下来)?(?:全部|全|都|均|通过|一致|正确))")
# A result: a number that is not part of a name, or the lack of something.
_PLAIN_NUMBER = rf"(?<![A-Za-z_\d.,]){_NUMBER}"
_RESULT = re.compile(rf"{_PLAIN_NUMBER}|\b(?:no|zero|all|every)\s|没有|零|全部|无(?!法)", re.I)
# A tool that reports something whenever it runs, or one that was not asked.
_EN_IN_GENERAL = re.compile(r"\b(?:when(?:ever)?|once|as\s+soon\s+as|every\s+time|usually|typically|often|always|can|not|never|without|no\s+(?:gpu|card|profiler)|don't|didn't|doesn't|emulator|cpu|let|ask|see|check)\b", re.I)
_ZH_IN_GENERAL = re.compile(rf"(?<![相应适])当(?!前)|一旦|每次|通常|一般|往往|总是|会|(?<!性)能|才|再|时\W*$|请|让|看看|模拟器|CPU|(?:没|未|不|无)[^，。；\n]{{0,24}}(?:{_TOOL}|{_CARD})", re.I)
# Beside a claim: what the hardware could do, which nobody measures.
_REFERENCE = re.compile(r"\b(?:peak|theoretical\w*|ideal\w*|limit|ceiling|roof(?:line)?|bound|spec\w*|nominal|datasheet|target|budget|at\s+best)\b|峰值|理论|理想|上限|标称|规格|屋顶|目标|预算|最多", re.I)
_BESIDE = re.compile(r"[，,；;：:（）()]|\b(?:but|against|than|of(?=\s+(?:the|its|an?)\b)|whereas|while|versus|vs|instead)\b|[而但比占]")
# Weak words: running the visible asserts leaves no output behind, and "tested", "verified" are often said of thinking it through.
_WEAK = re.compile(r"(?:assert|断言|检查|单元格|\bcells?\b|\bchecks?\b|notebook|笔记本)", re.I)
_RUN_WORDS = re.compile(r"实测|测得|测出|测了|测到|量了|跑分|measured|timed|benchmark|profil|clocked|recorded|运行结果|测量结果|测试结果|运行输出|实际运行|测试|测量|实验|\bran\b|\btook\b|跑|运行", re.I)

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
    r"本课|课程|课文|课上|课里|讲义|教材|页面|文中|原文|图\s*\d|图表|表\s*\d|作者|老师|教师|官方|论文|文献|资料|参考答案|文档|博客|README|NVIDIA|CUTLASS|DeepSeek|(?<![数证依占])据(?!此)|引用|给出的|提供的|公布|报告(?:中|里)|所列|上文|前文", re.I
)
_EN_QUOTED = re.compile(
    r"\b(?:lesson|course|page|text|figure|fig\.|table|plot|chart|notes|author|teacher|instructor|lecture|paper|documentation|docs|blog|article|literature|README|NVIDIA|CUTLASS|DeepSeek|according\s+to|cited|quoted|reported\s+(?:by|in)|published|it\s+says|above)\b",
    re.I,
)
_OWN = re.compile(r"我|本人|自己|亲自|亲手|\b(?:i|we|my|our)\b", re.I)
_QUESTION = re.compile(r"[?？]\s*$|^\s*(?:是否|怎么|如何|为什么|why|how|what|does|do|is|are|can)\b", re.I)
_GPU = re.compile(r"\b(?:H100|H200|H800|A100|A800|B200|GH200|V100|T4|L4|L40S?|RTX\s*\d+|[345]0[5-9]0(?:\s*Ti)?|GPU|显卡|on\s+the\s+card)\b|显卡|[345]0[5-9]0", re.I)

_SOURCED = re.compile(r"[\"“「『]")


@dataclass(frozen=True)
class Claim:
    """A sentence that claims a run or a measurement. sure: nothing in it softens that. own: it says "I". figure: it names a figure.
    gpu: it names a GPU. told: it is what a tool is said to report. on_gpu: the run itself is said to have been on a GPU."""

    sentence: str
    slot: str
    sure: bool
    own: bool
    figure: bool
    gpu: bool
    told: bool = False
    on_gpu: bool = False


def claims_in(text: str, slot: str = "") -> tuple[Claim, ...]:
    """Every claim in a text."""
    found = []
    for piece in _SENTENCE.split(_without_code(text)):
        for sentence in (piece[i : i + MAX_SENTENCE].strip() for i in range(0, len(piece), MAX_SENTENCE)):
            claim = _claim(sentence, slot) if sentence else None
            if claim is not None:
                found.append(claim)
    return tuple(found)


def declares_static_review(text: str) -> bool:
    """Does the text say that nothing was run? ("仅静态审查" / "static review only")"""
    return bool(re.search(r"(?:仅|只|只做了?|仅做了?)?静态(?:审查|分析|检查)|\bstatic(?:ally)?\s+(?:review|analysis|inspection|reading)|(?:没有|未|没)(?:实际)?(?:运行|跑)|\b(?:not|never|n't)\s+(?:been\s+)?(?:run|ran|executed)\b", text, re.I))


def _without_code(text: str) -> str:
    return re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.S)


def _claim(sentence: str, slot: str) -> Claim | None:
    """Clause by clause: "not run, but the lesson measured 1.4x" has no claim; "I expected 6, but measured 7" has one."""
    strong = hit = told = on_gpu = False
    surely = False  # by one of the phrases that are sure of their own
    for clause in re.split(r"[，,；;]|\bbut\b|\bhowever\b|但是?|不过|然而", sentence):
        plain = bool(_ZH_CLAIM.search(clause) or _EN_CLAIM.search(clause))
        tool, card = _told(clause), _on_card(clause, plain)
        if not (plain or tool or card) or _denied(clause):
            continue
        quoted = (_ZH_QUOTED.search(clause) or _EN_QUOTED.search(clause)) and not _OWN.search(clause)
        if quoted and not plain:
            continue  # the lesson's profiler, beside a claim of one's own
        if quoted:
            return None
        hit = True
        softened = _ZH_SUPPOSED.search(clause) or _EN_SUPPOSED.search(clause)
        strong = strong or not softened
        surely = surely or (plain and not softened)
        told, on_gpu = told or (tool and not softened), on_gpu or (card and not softened)
    if not hit or _QUESTION.search(sentence):
        return None
    if (_ZH_QUOTED.search(sentence) or _EN_QUOTED.search(sentence)) and not _OWN.search(sentence):
        return None
    if not strong:
        return None
    figure = bool(_FIGURE.search(sentence))
    weak = bool(_WEAK.search(sentence)) and not figure
    sure = not weak and not _ZH_SUPPOSED.search(sentence) and not _EN_SUPPOSED.search(sentence) and not _SOURCED.search(sentence)
    own = bool(_OWN.search(sentence))
    sure = sure and surely and (own or figure) and bool(_RUN_WORDS.search(sentence))
    return Claim(sentence[:MAX_SENTENCE], slot, sure, own, figure, bool(_GPU.search(sentence)), told and not surely, on_gpu)


def _told(clause: str) -> bool:
    """Does it say what a tool reported of this program? Not what it reports in general."""
    told = (_EN_TOLD.search(clause) and not _EN_IN_GENERAL.search(clause)) or (_ZH_TOLD.search(clause) and not _ZH_IN_GENERAL.search(clause))
    return bool(told and _RESULT.search(clause))


def _on_card(clause: str, plain: bool) -> bool:
    """Does it say that the writer ran something on a GPU? plain: that something was run or measured is known, if not by whom."""
    plain = plain and bool(_OWN.search(clause))
    if _EN_ON_CARD.search(clause) and not _EN_IN_GENERAL.search(clause):
        return plain or bool(_EN_RAN.search(clause))
    return bool(_ZH_ON_CARD.search(clause)) and not _ZH_IN_GENERAL.search(clause) and (plain or bool(_ZH_RAN.search(clause)))


def _denied(clause: str) -> bool:
    return bool(_ZH_DENIAL.search(clause) or _EN_DENIAL.search(clause))


@dataclass(frozen=True)
class Shown:
    """What the notebook shows of runs. outputs: any output or picture at all. counted: any code cell has an execution count.
    backends: of its receipts. text: all output text and the receipts' figures, to look figures up in."""

    outputs: bool
    counted: bool
    backends: frozenset[str]
    text: str


def shown_by(reading: Reading) -> Shown:
    code = reading.code
    receipts = [r for c in code for r in c.receipts if _is_whole(r)]
    texts = [t for c in code for t in c.outputs] + [str(r.get("figure", ""))[:2000] for r in receipts]
    return Shown(
        outputs=bool(receipts) or any(c.outputs or c.pictures for c in code),
        counted=any(c.executed is not None for c in code),
        backends=frozenset(str(r.get("backend", ""))[:20] for r in receipts),
        text="\n".join(texts)[:1_000_000],
    )


def _is_whole(receipt: dict) -> bool:
    """Has it what the loader writes into every receipt (kernels.Receipt)? The source's hash may be that of a challenge, so it is not looked up."""
    texts = [receipt.get(name) for name in ("kernel", "backend", "device", "command", "time", "source_sha256")]
    if not all(isinstance(t, str) and t for t in texts) or not re.fullmatch(r"[0-9a-f]{64}", texts[-1]):
        return False
    try:
        datetime.fromisoformat(receipt["time"])
    except ValueError:
        return False
    return receipt["backend"] in ("gpu", "emulator")


def find_claims(reading: Reading) -> list[Finding]:
    """Claims with nothing to show for them. At most one veto and one review finding a slot: the first says enough."""
    shown = shown_by(reading)
    texts = [*reading.answers.items(), *(("", t) for t in reading.extra)]
    static = declares_static_review("\n".join(t for _, t in texts))
    lesson = reading.released.text if reading.released else ""
    findings: dict[tuple[str, str], Finding] = {}
    for slot, text in texts:
        for claim in claims_in(text, slot):
            finding = _judge(claim, shown, static, lesson)
            if finding is not None:
                findings.setdefault((slot, finding.severity), finding)
    return list(findings.values())


def _judge(claim: Claim, shown: Shown, static: bool, lesson: str) -> Finding | None:
    """lesson: the released text. Its own figures without an "I" may be a quotation that forgot its source."""
    quote = claim.sentence if len(claim.sentence) <= 120 else claim.sentence[:117] + "..."
    if not shown.outputs:
        if not claim.figure and shown.counted and not claim.told and not claim.on_gpu:
            return None  # cells were run; a run without output leaves nothing else
        if claim.told and not claim.own and _all_shown(claim.sentence, lesson):
            return None  # the lesson's own words, as a rule
        quotation = not claim.own and _figures_shown(claim.sentence, lesson)
        if claim.sure and not static and not shown.counted and not quotation:
            message = Text(
                zh=f"答案说运行或测量过，但笔记本里没有任何输出或运行记录：“{quote}”", en=f'The answer claims a run or a measurement, but the notebook shows no output and no receipt: "{quote}"'
            )
            return Finding(code="claimed_not_run", severity="veto", message=message, where=claim.slot)
        return _doubt("claim_without_output", "答案说运行或测量过，但笔记本里没有对应的输出", "The answer claims a run or a measurement, but no output in the notebook shows it", quote, claim)
    if claim.told and not _tool_shown(claim.sentence, shown.text, "" if claim.own else lesson):
        return _doubt("figure_not_in_outputs", "答案说工具报告的内容在笔记本的输出里找不到", "What the answer says a tool reports is in no output of the notebook", quote, claim)
    if claim.on_gpu and not claim.figure and "gpu" not in shown.backends:
        return _doubt("claim_without_receipt", "答案说在 GPU 上运行过，但笔记本里没有 GPU 的运行凭据", "The answer says that it was run on a GPU, but the notebook holds no receipt of a run on one", quote, claim)
    if not claim.figure or claim.told:
        return None
    if claim.gpu and "gpu" not in shown.backends:  # a printed figure alone is no measurement
        return _doubt("claim_without_receipt", "答案给出在 GPU 上测得的数字，但笔记本里没有 GPU 的运行凭据", "The answer gives a figure measured on a GPU, but the notebook holds no receipt of a run on one", quote, claim)
    if not _figures_shown(claim.sentence, shown.text) or not _clock_shown(claim.sentence, shown.text, lesson):
        return _doubt("figure_not_in_outputs", "答案说测得的数字在笔记本的输出里找不到", "The figure that the answer says was measured is in no output of the notebook", quote, claim)
    return None


def _doubt(code: str, zh: str, en: str, quote: str, claim: Claim) -> Finding:
    return Finding(code=code, severity="review", message=Text(zh=f"{zh}：“{quote}”", en=f'{en}: "{quote}"'), where=claim.slot)


def _figures_shown(sentence: str, text: str) -> bool:
    """Is at least one of the sentence's figures in the outputs, to the digits the student gave?"""
    have = _numbers(text)
    return any(_among(m[0], have) for m in re.finditer(_NUMBER, " ".join(m[0] for m in _FIGURE.finditer(sentence))))


def _clock_shown(sentence: str, text: str, lesson: str) -> bool:
    """Is each time and rate that the sentence gives as its own in the outputs? In another unit, or as the difference or sum of two that it
    gives, too. One beside it that is expected, quoted or what the hardware could do is not its own; nor is one of the lesson's in a
    sentence that names the lesson."""
    have = _numbers(text)
    if _ZH_QUOTED.search(sentence) or _EN_QUOTED.search(sentence):
        have = tuple(sorted(have + _numbers(lesson)))
    wanted = [n for part in _BESIDE.split(sentence) if not _of_another(part) for m in _CLOCKED.finditer(part) for n in [m["first"] or m["figure"]]]
    shown = [float(n.replace(",", "")) for n in wanted if _among(n, have, clocked=True)]
    derived = sorted(x for i, a in enumerate(shown[:20]) for b in shown[:i] for x in (abs(a - b), a + b))
    return all(_among(n, have, clocked=True) or _among(n, derived) for n in wanted)


def _of_another(part: str) -> bool:
    quoted = (_ZH_QUOTED.search(part) or _EN_QUOTED.search(part)) and not _OWN.search(part)
    return bool(quoted or _REFERENCE.search(part) or _ZH_SUPPOSED.search(part) or _EN_SUPPOSED.search(part))


def _tool_shown(sentence: str, text: str, lesson: str) -> bool:
    """Are the numbers that a tool is said to report in the outputs or the lesson? Where it gives none, is the tool itself in the outputs?"""
    named = {m[0].lower() for m in re.finditer(_TOOL, sentence, re.I)}
    return _all_shown(sentence, f"{text}\n{lesson}") or (not re.search(_PLAIN_NUMBER, sentence) and any(n in text.lower() for n in named))


def _all_shown(sentence: str, text: str) -> bool:
    """Does the sentence give numbers, and is each of them in the text? A number in a name (H100, sm_90a) is none."""
    wanted, have = re.findall(_PLAIN_NUMBER, sentence), _numbers(text)
    return bool(wanted) and all(_among(n, have) for n in wanted)


@lru_cache(maxsize=8)
def _numbers(text: str) -> tuple[float, ...]:
    """The numbers of a text, in order of size."""
    return tuple(sorted(float(n.replace(",", "")) for n in re.findall(_NUMBER, text)[:20_000] if len(n) < 40))


def _among(number: str, have: Sequence[float], clocked: bool = False) -> bool:
    """To the digits given. clocked: rounded or cut off at the last one, no further; also as so many thousands or thousandths, where it has
    two digits or more."""
    mantissa, _, exponent = number.lower().replace(",", "").partition("e")
    digits = len(mantissa.replace(".", "").lstrip("0")) or 1
    value = float(number.replace(",", ""))
    near = 0.5 * 10 ** (1 - digits) * max(abs(value), 1e-300)
    if clocked:
        near = min(near, 1.001 * 10.0 ** (max(-300, min(300, int(exponent[:5] or 0))) - min(300, len(mantissa.partition(".")[2]))))
    for scale in (1e-3, 1.0, 1e3) if clocked and digits > 1 else (1.0,):
        at = bisect_left(have, (value - near) * scale)
        if at < len(have) and have[at] <= (value + near) * scale:
            return True
    return False
