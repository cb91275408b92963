"""Figures that a sentence gives as the result of something that was run or watched, whatever words it says so in.

Phrases that claim a run (claimed.py) are endless; figures are not. So the sentence is read from its figure: a time, a rate, a share, a
factor or a count of runs. It is told as seen if it belongs to a device or to data of the writer's own, to an instrument, to a series of
runs or to what happened in the past, or if it is a time or a rate as no rule of thumb gives it (3.11 ms) and nothing beside it works it
out. What is supposed, chosen, predicted, worked out, denied or said of another source is not. Never sure: a person looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.grading.claimed import (
    CARD,
    GPU,
    NUMBER,
    PLAIN_NUMBER,
    REFERENCE,
    TIME_OR_RATE,
    TOOL,
    denied,
    in_general,
    quotes,
    supposed,
)
from autograder.grading.sentences import Sentence, statement

_UNITS = {
    w: str(n)
    for n, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
_TENS = {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "hundred": "100",
    "a hundred": "100",
    "dozen": "12",
    "a dozen": "12",
}
_WORDS = _UNITS | _TENS
_SAID = "|".join(sorted(_WORDS, key=len, reverse=True))
_HANZI = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2}
_ZH = r"[零一二两三四五六七八九十百]+"
# A remainder (17 % 8) is no share.
_UNIT = rf"(?:{TIME_OR_RATE}|milliseconds?|microseconds?|nanoseconds?|minutes?|%(?!\s*(?:[\d(]|[A-Za-z_]\b))|per\s*cent\b|x\b|倍|times\s+(?=as|more|less|slow|fast|long|short|high|low|the)|个百分点|分钟|成(?=[多左以。,;]|$))"
_TOLD = re.compile(rf"(?<![A-Za-z_\d./*+^])(?P<n>{NUMBER})\s*(?P<unit>{_UNIT})", re.I)
_LISTED = re.compile(
    rf"(?<![\d.,])(?P<n>{NUMBER})\s*(?:-|~|to|and|or|或|到|至|和|,|、|/|vs\.?|->)\s*(?={NUMBER}\s*(?P<unit>{TIME_OR_RATE}))",
    re.I,
)
_IN_WORDS = re.compile(
    rf"\b(?P<n>(?:{_SAID})(?:[ -](?:point|and|{_SAID}))*)\s+(?P<unit>(?:milli|micro|nano)?seconds?|minutes?|percent|per cent|ms|us)\b|(?P<zh>[零一二两三四五六七八九十百点]*[零一二三四五六七八九十百][点零一二三四五六七八九]*|半)\s*(?P<zunit>毫秒|微秒|纳秒|秒(?!表)|分钟)",
    re.I,
)
# A counter's number has no unit.
_COUNTED = re.compile(
    rf"(?:冲突|溢出|未命中|spills?|conflicts?)[^,。;\d]{{0,4}}(?P<of>\d+)|(?P<n>{PLAIN_NUMBER})(?:(?P<counted>\s+(?:\w+\s+){{0,2}}(?:conflicts|spills|misses|stalls|transactions|sectors|replays)\b|\s*[次个条](?:存储体|bank)?\s*(?:冲突|溢出|未命中|事务))|(?<=\d\d)(?:\s+[a-z]{{3}}|\s*[个次条]))",
    re.I,
)
_RATIO = re.compile(
    rf"(?:加速比|倍率|speed-?up|slow-?down)\s*(?:只?[是为有]|was|is|of|:|=|came\s+to)?\s*(?P<n>{NUMBER})(?!\s*(?:%|x\b|倍|times))",
    re.I,
)
_CLOCK = re.compile(rf"{TIME_OR_RATE}|(?:milli|micro|nano)seconds?|minutes?|分钟", re.I)

_N = rf"(?:\d+|(?:{_SAID}))"
_RUNS = r"(?:seeds?|runs?|launches|tries|trials|attempts|schedules|repetitions|executions|times|passes)"
_RUN_COUNT = re.compile(
    rf"\b(?P<a>{_N})\s+(?:out\s+)?of\s+(?:the\s+|my\s+|our\s+|all\s+)*(?P<b>{_N})\b(?:\s+\w+)?\s+{_RUNS}\b|\bof\s+(?:the\s+|my\s+|our\s+|all\s+)*(?P<c>{_N})\s+{_RUNS}\b[^.;]{{0,30}}?\b(?P<d>{_N})\b"
    rf"|\b(?P<e>{_N})\s+{_RUNS}\b[^.]{{0,40}}?\b(?P<f>{_N})\b"
    rf"|(?P<g>\d+|{_ZH})\s*(?:个(?:种子|运行|启动|尝试|实验|调度)|次|遍)[^。;\d]{{0,10}}?(?P<h>\d+|{_ZH})\s*(?:个|次|遍)",
    re.I,
)
_COUNTS = re.compile(rf"{_RUNS}|[个次遍]", re.I)  # without such a word nothing is a count of runs
_OUTCOME = re.compile(
    r"\b(?:fail\w*|wrong|deadlock\w*|h[au]ng|races?|crash\w*|corrupt\w*|nan|errors?|agree\w*|pass(?:ed)?|right|correct|ok|never|came\s+back|returned|finished|garbage|rubbish)\b|垃圾|失败|出错|错|死锁|挂|不对|通过|正确|一致|崩|竞争",
    re.I,
)
_GENERAL_RUN = re.compile(
    r"\b(?:a|any|every)\s+\w+\s+(?:that|which)\b|\bis\s+still\b|\bproves?\b|也不能|不说明|要看", re.I
)

# Somebody's own device, data or run. "The lesson's" and the like are no owners.
_OWNER = r"(?:my|our|(?!lesson|course|page|text|teacher|author|nvidia|paper|card|gpu|kernel|chip|machine|device|it|that|what|here|there|[HA]\d)[a-z]+'s)"
_DEVICE = rf"(?:{CARD}|machine|laptop|pc|computer|desktop|workstation|server|node|box|cluster|(?:stop|wrist)?watch|phone|terminal|screen|side|end)"
_EN_OWN = re.compile(
    rf"\b{_OWNER}\s+(?:\w+\s+){{0,2}}{_DEVICE}\b|\b(?:my|our)\s+(?:own\s+)?(?:\w+\s+)?(?:numbers?|figures?|timings?|times?|results?|data|measurements?|runs?|benchmarks?|tests?|experiments?|log|output|notes?|throughput|bandwidth|speed|rate|speed-?up|slow-?down)\b"
    rf"|\b(?:machine|{CARD}|node|cluster|server)\s+(?:\w+\s+)?of\s+(?:my|our|the\s+(?:institute|lab|department|university|school|group))\b|\bon\s+(?:our|my)\b|\bon\s+this\s+(?:machine|{CARD}|laptop|node)\b|\bbelieve\s+me\b|\b(?:for|with)\s+(?:me|us)\s*(?:[.,:]|$)"
    r"|\b(?:I|we)(?:'ve|\s+have|\s+had)?(?:\s+(?:also|then|just|actually|once|even|really|clearly|\w+ly))*\s+(?:watched|witnessed|got|did|logged|obtained|reached|achieved|hit|ran|run|let|launched|repeated|compared|read\s+off|wrote\s+down|clocked|timed|measured|looked|recorded|benchmarked|profiled|executed)\b"
    r"|\b(?:done|run|seen|measured|timed)\s+by\s+(?:me|us)\b|\bhave\s+the\s+measurements?\b|\bhere\s*(?:[:.]|$)|\bI\s+(?:got|get)\s+here\b|\bwhen\s+I\s+(?:did|let|tried|ran)\b",
    re.I,
)
# Of these the lesson's figures, and what follows from small counts, may be said too.
_SEES = re.compile(
    r"\b(?:my|our)\s+(?:own\s+)?(?:\w+\s+)?(?:kernel|version|code|fill|copy)\b|我们?的?(?:版本|代码|程序|kernel)|\b(?:I|we)\s+(?:get|have)(?=\s+\d)|我们?得到|\b(?:I|we)(?:'ve|\s+have|\s+had)?(?:\s+(?:also|then|just|actually|even|really|clearly|could|can))*\s+(?:see|saw|seen|found|noticed|noted|counted|observed)\b|(?:我|我们|咱们?|本人|俺|自己)[^,。;:]{0,14}?(?:看到|看见|见到|发现|观察|数了|数出)|^\s*(?:saw|got)\b",
    re.I,
)
_ZH_OWNER = r"(?:我|我们|咱们?|本人|俺|笔者|实验室|学校|学院|系里|公司|单位|宿舍|机房|组里|同学|室友|朋友|师兄|师姐|导师|手上|手头)"
_ZH_OWN = re.compile(
    rf"{_ZH_OWNER}(?:们|自己|家|里|这|那|台|块|张|边|的|有|用|在|上|\s){{0,5}}(?:{CARD}|机器|电脑|显卡|卡(?!在)|笔记本|服务器|集群|工作站|终端|屏幕|数字|数据|结果|记录|日志|实验|时间|耗时|带宽|吞吐|速度|加速比|运行|测量|实测|数值)"
    r"|(?:我|我们|咱们?|本人|俺|自己)[^,。;:]{0,14}?(?:拿到|记录|记下|做了|做过|试了|试出|试过|试下来|跑|测[了得出到过]|量[了得出到过]|计时|这边|这里|用了|花了|启动了|执行了|逐个看过)"
    r"|(?:我|我们|咱们?)(?:这边|这里|这儿)|亲[眼手测身自]|试出来的",
    re.I,
)
# Instruments, and what is said of series of runs and of their results.
_INSTRUMENT = re.compile(
    rf"\b(?:(?:stop|wrist)?watch|timers?|wall[- ]?clock|wall\s+time|elapsed|time\.time|(?:%+)?timeit|perf_counter|cuda\.?events?|cuda\.Event|event\s+tim\w+|nvidia-smi|do_bench|cudaEvent\w*|{TOOL})\b|%time|计时器|秒表|计时(?!单位)|示波器|{TOOL}",
    re.I,
)
_SERIES = re.compile(
    r"\b(?:timings?|tim(?:ed|e\s+trial)|measur(?:ed|ing|ements?)|benchmark(?:s|ed|ing)?|experiments?|experimentally|empirical(?:ly)?|in\s+practice|median|averaged|std|stdev|standard\s+deviation|repetitions?|trials?|readings?|observed|observation|logged|log\s+of|trace\s+shows|in\s+reality)\b"
    r"|\b(?:mean|average|min|max|best|worst|fastest|slowest|median)\b[^.;]{0,20}\b(?:\d+|twenty|ten|fifty|hundred)\s+(?:runs|launches|times|tries|calls)\b|\bbest\b[^.;]{0,14}\bworst\b|\b[nN]\s*=\s*\d+|\b(?:over|of|in|after)\s+(?:\d+|ten|twenty|fifty|a\s+hundred)\s+(?:runs|launches|repetitions|iterations|calls|tries)\b"
    r"|\b(?:a|the|one|this|that|quick|first|second|third|last|short|test|trial|dry)\s+(?:test\s+)?run\b|\bhaving\s+(?:run|timed|tried|measured)\b|\bresults?(?:\s+of\s+[\w ]{2,30}?)?\s*(?::|was|were|came)|\b(?:came|turned)\s+out\b|\btried\s+it\b|\b(?:confirmed|verified|tested|checked|seen)\s+on\b|\bmean\s+(?:was|is|came)\b|\bhardware\s+(?:says|said|gives|gave|shows|showed)\b|实际(?=\s*\d|[是为用耗测要花上])|\bon\s+(?:real|actual)\s+(?:hardware|silicon|cards?|gpus?)\b|\bprint(?:ed|s)\b|^\W*(?:before|after|now|with|without|profile|observed|elapsed|log)\s*:"
    r"|(?:实验|试验|测试|测量|量测|测定|测速|运行|上机|跑分|基准)(?:的|得到的?)?(?:结果|数据|数值|值|记录|一?看|后|下来|了|[:是为,]|$|\s*(?=\d))|测定|亲测|实测|测得|上机|前后对比|中位数|均值|标准差|平均[,:是为]|(?:次|遍|轮)的?(?:取?平均|取|中位|结果)|跑出|跑[了过完]?\s*[\d一二两三四五六七八九十百]+\s*[次遍轮]|(?:昨|今)[晚天]跑|跑了?一?整?[晚夜]|(?:^|[,;。])\s*(?:结果|读数|记录|日志|数据|输出)\s*[:是为]|读数|日志|所见|观察到|显示|打印|(?:最快|最慢)一次|再来一[次遍]|前后相减|记下|看到[^,。;]{0,10}(?:从|由|变|降|升)",
    re.I,
)
# What happened: a past verb, or a change from one to another.
_PAST = re.compile(
    r"\b(?:took|needed|went|fell|dropped|rose|became|got|lasted|finished|completed|ended|reached|came|ran|was|were|had|gave|returned|improved|sped|slowed|grew|shrank|deadlocked|hung|stalled|failed|increased|decreased|halved|doubled|saved|lost|gained|brought|made|lifted|raised|pushed|landed|differed|turned|drew|cost(?=\s+\d[\d.]*\s*(?:ms|us|ns|s)\b)|stood|read(?=\s+\d)|did\s+it|has\s+been|went\s+up)\b"
    r"|(?:用|花|慢|快|多|少|降|升|涨|掉|耗|跌|完|增|减|高|低|停|等)了|(?:变成|变为|变到|降到|降为|掉到|涨到|升到|跌到|缩短到|增加到|减少到|提高到|达到)了?\s*\d|就完了|多花\s*\d",
    re.I,
)
_IDIOM = re.compile(
    rf"\bit\s+(?:should|must)\s+be\s+said\s+that|\bI\s+(?:must|should)\s+(?:say|add)\b|\b(?:one|you)\s+can\s+see\b|如你所见|\bif\s+(?:I|memory|my\s+memory)\s+(?:remember|recall|serve|am\s+not)\w*[^,]*|\bif\s+you\s+(?:ask|must|want)\b[^,]*|\bas\s+(?:far\s+as\s+)?(?:I|one)\s+(?:could|can|would)(?:\s+(?:see|tell))?|\baccording\s+to\s+(?=(?:the\s+|my\s+)?(?:nvidia|{TOOL}|timer|stopwatch|time\.|perf|cuda|clock))|(?:如果|要是|若)?我?没(?:有)?(?:记错|看错|弄错)(?:的话)?",
    re.I,
)

# What is supposed holds from its clause on; what is given as an example, chosen, predicted or worked out does so until something is told.
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|supposing|assum\w+|imagine|say(?=,|\s+(?:a|an|the|it|that|we|you|one|each|\d))|given\s+(?:a|an|that|\w+\s*=)|hypothetical\w*|made[- ]up|whoever|(?:someone|anyone|those|a\s+person)\s+who|when(?:ever)?\s+(?:a|an|one|you|each|every|the)\b)\b|^\W*let\b"
    r"|如果|假如|假设|假定|设(?![备计置施])|倘若|要是|若(?!干)|(?<!指)令(?!牌)|要(?:想)?(?:测|跑满|达到)",
    re.I,
)
_EXAMPLE = re.compile(r"\b(?:for\s+(?:example|instance)|e\.g|such\s+as)\b|比如|例如|譬如|举例", re.I)
_GIVEN = re.compile(
    r"\b(?:I|we)\s+(?:choose|chose|pick(?:ed)?|assume\w*|think|thought|believed?)\b|\b(?:I|we)\s+(?:take|took|set|use[d]?)\s+(?:[a-z]+\s+){0,4}(?:=\s*)?\d|\bmy\s+(?:\w+\s+){0,2}(?:case|input|example|choice|prediction|estimate|guess|bound)\b|\bboundary\s+(?:case|input)\b|\bpredict\w*|\bestimat\w*|\bguess\w*|\bexpect\w*|\bcalculat\w*|\bcomput(?:ed|es|ing)\b|\b(?:I|we|to)\s+compute\b|\bwork(?:s|ed)?\s+(?:it\s+)?out\b|\bderiv\w+|\barithmetic\b|\bby\s+(?:the\s+)?(?:formula|bytes|law|rule)\b|\blittle's\b|\bformula\b|\btheory\s+(?:says|gives)\b"
    r"|(?<!次)取(?!了?[^,。;]{0,6}(?:平均|中位)|最|均|出|决|舍|数)|选[了取用]?\s*(?:[a-zA-Z]|带宽|延迟|一个)|代入|按[^,。;]{0,12}算|算出|算得|算下来|算起来|计算(?!错)|换算|折算|算成|来算|一算|相乘|相除|乘起来|除以|乘以|预测|预计|预期|估|猜|推[算导断]|公式|边界输入|边界(?:用例|情况)|(?:觉得|认为|我想(?!不))|题[目里中]",
    re.I,
)
_DATA = re.compile(
    r"\b(?:my|our)\s+(?:\w+\s+)?(?:timings|measurements|runs|trials|launches)\b|(?:计时|测量|运行|跑)的?(?:平均|中位)",
    re.I,
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|about|roughly|approximately|around|some(?=\s+\d)|order\s+of|at\s+(?:most|best|least)|up\s+to|no\s+more\s+than|worst\s+case|usually|typically|often|always|every|each|per|any|so|thus|therefore|hence|that\s+is|i\.e|because|since|(?:one|you)\s+(?:need|must|can|get|has|have)s?)\b|大[概约致]|左右|最[多少]|至[多少]|不超过|一般|通常|往往|总是|每|所以|因此|即|也就是|会(?![议话])|就是|只有",
    re.I,
)
_PRODUCT = re.compile(
    r"\d[^,.;]{0,24}(?<![A-Za-z])[*/x](?![A-Za-z])\s*\d[^,;]{0,40}?(?:=|~|->|is\b|得|是)|[=~]\s*[^,;]{0,20}\d[^,;]{0,24}(?:\*|/(?!s\b))\s*\d",
    re.I,
)
_CLAUSE = re.compile(
    r"[，；;：:()（）]|,(?!\d{3}\b)|\s[-—]{1,2}\s|—|\b(?:but|whereas|while|however)\b|\band\b(?=\s+(?:\w+\s+){0,3}(?:was|were|is|did|saw|got|took|takes|needed|needs|gave|gives|came|had)\b)|但是?|不过|然而"
)


_DIGIT = re.compile(r"\d")
_SAYS = re.compile(
    r"^\W*(?:according\s+to|in|as|per|by|from)\b|\b(?:says?|states?|writes?|shows?|reads?)\W*(?:that\b|$)|^\W*(?:根据|按照?|据|在)|(?:说|写道|指出|显示)\W*$",
    re.I,
)


@dataclass(frozen=True)
class Figure:
    """number: in digits. unit: as written, "" for a count. quoted: beside it another source is named."""

    number: str
    unit: str
    quoted: bool = False

    @property
    def clocked(self) -> bool:
        """A time or a rate."""
        return bool(_CLOCK.match(self.unit))


@dataclass(frozen=True)
class Told:
    """A sentence with figures told as seen. own: of the writer's own device, data or doing. loose: only its past tense, or the figure's
    digits, say so. counts: pairs (of how many runs, how many). gpu: it names a GPU."""

    quote: str
    text: str
    figures: tuple[Figure, ...]
    counts: tuple[tuple[str, str], ...]
    own: bool
    loose: bool
    gpu: bool


def told_in(written: Sentence) -> Told | None:
    sentence = _IDIOM.sub(" ", statement(written.text))
    if not _COUNTS.search(sentence) and not any(any(_figures(clause)) for clause in _CLAUSE.split(sentence)):
        return None
    clauses = list(_seen_clauses(sentence))
    rest = ", ".join(clauses)
    own = bool(_EN_OWN.search(rest) or _ZH_OWN.search(rest))
    marked = own or bool(_SEES.search(rest) or _INSTRUMENT.search(rest) or _SERIES.search(rest))
    figures, counts = [], []
    for clause in clauses:
        if REFERENCE.search(re.sub(r"\b(?:memory|bandwidth|compute|latency)[- ]bound\b", "", clause)):
            continue
        past = bool(_PAST.search(clause))
        exact = any(f.clocked and _is_exact(f.number) for f in _figures(clause))
        soft = not marked and bool(_PRODUCT.search(clause) or _HEDGED.search(clause) and not (past and exact))
        for figure in _figures(clause):
            if not figure.unit and not marked:
                continue
            if (
                marked
                and not (_PRODUCT.search(clause) and not own)
                or not soft
                and (past or figure.clocked and _is_exact(figure.number))
            ) and (own or not _worked_out(figure, sentence)):
                figures.append(figure)
        if (m := _RUN_COUNT.search(clause if _OUTCOME.search(clause) else "")) and not soft:
            counts.append(tuple(map(digits, [g for g in m.groups() if g][:2])))
    if _GENERAL_RUN.search(rest):
        counts = []
    elif (m := _RUN_COUNT.search(rest)) and not counts and _OUTCOME.search(rest) and not _HEDGED.search(rest):
        counts.append(tuple(map(digits, [g for g in m.groups() if g][:2])))
    if not figures and not counts:
        return None
    return Told(written.quote, sentence, tuple(figures), tuple(counts), own, not marked, bool(GPU.search(rest)))


def _seen_clauses(sentence: str) -> Iterator[str]:
    """Its clauses without those that suppose, choose, predict, deny or quote, and without what only follows from these."""
    before = ""
    for clause in _CLAUSE.split(sentence):
        own = bool(_EN_OWN.search(clause) or _ZH_OWN.search(clause))
        if _SUPPOSED.search(clause):
            before = "supposed"
            continue
        example = _EXAMPLE.search(clause)
        if example or _GIVEN.search(clause):
            before = before or "given"
            if not (_DATA.search(clause) or example and own):
                continue
        elif before and not own and (before == "supposed" or not _happened(clause)):
            continue
        named = quotes(clause.replace("nvidia-smi", "smi"))
        if named and not own and _SAYS.search(clause) and not any(_figures(clause)):  # "according to the lesson, ..."
            before = "supposed"
        if not supposed(clause) and not denied(clause) and not (named and not own):
            yield clause


def _happened(clause: str) -> bool:
    """Does it tell what was seen, beside something that was only expected?"""
    told = _SEES.search(clause) or _INSTRUMENT.search(clause) or _SERIES.search(clause)
    return bool(
        told or _PAST.search(clause) and not _HEDGED.search(clause) and any(f.clocked for f in _figures(clause))
    )


def _figures(clause: str) -> Iterator[Figure]:
    for m in _IN_WORDS.finditer(clause):
        yield Figure(digits(m["n"] or m["zh"]), m["unit"] or m["zunit"], quotes(clause))
    if not _DIGIT.search(clause):
        return
    for m in (*_TOLD.finditer(clause), *_LISTED.finditer(clause)):
        yield Figure(m["n"], m["unit"].strip(), quotes(clause))
    for m in _RATIO.finditer(clause):
        yield Figure(m["n"], "x", quotes(clause))
    for m in _COUNTED.finditer(clause):
        if (
            m["of"]
            or m["counted"]
            or (_INSTRUMENT.search(clause) and not in_general(clause) and not _RUN_COUNT.search(clause))
        ):
            yield Figure(m["of"] or m["n"], "", quotes(clause))


def _worked_out(figure: Figure, sentence: str) -> bool:
    """Is it the product, the ratio or the inverse of numbers beside it, powers of ten aside?"""
    beside = [
        float(n)
        for n in re.findall(rf"(?<![A-Za-z_\d.,]){NUMBER}", sentence)[:8]
        if n != figure.number and len(n) < 20 and "," not in n
    ]
    beside = [x for x in beside if x]
    digits_given = len(figure.number.replace(".", "").strip("0")) or 1
    mine = float(figure.number.replace(",", "")) if len(figure.number) < 20 else 0.0
    made = (
        [1 / x for x in beside]
        + [x * y for i, x in enumerate(beside) for y in beside[:i]]
        + [x / y for x in beside for y in beside if x is not y]
    )
    return mine > 0 and any(
        f"{x:.{digits_given - 1}e}".partition("e")[0] == f"{mine:.{digits_given - 1}e}".partition("e")[0] for x in made
    )


def _is_exact(number: str) -> bool:
    """Three digits or more, with a decimal point: nobody makes up an example so."""
    return "." in number and len(number.replace(".", "").strip("0")) >= 3


def digits(said: str) -> str:
    """A number in words, in digits."""
    if re.match(r"\d", said):
        return said
    if re.match(_ZH + "|半", said):
        return _from_hanzi(said)
    whole, _, part = said.lower().replace("-", " ").partition(" point ")
    total = sum(int(_WORDS.get(w, "0")) for w in whole.split() if w != "and")
    decimals = "".join(_UNITS.get(w, "") for w in part.split())
    return f"{total}.{decimals}" if decimals else str(total)


def _from_hanzi(said: str) -> str:
    whole, _, part = said.partition("点")
    total = number = 0
    for c in whole:
        if c in "十百":
            total += (number or 1) * (10 if c == "十" else 100)
            number = 0
        else:
            number = _HANZI.get(c, 0)
    decimals = "".join(str(_HANZI.get(c, "")) for c in part)
    return f"{total + number}.{decimals}" if decimals else ("0.5" if said == "半" else str(total + number))
