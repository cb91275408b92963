"""Text that is addressed to the grader: orders, role play, marks asked for, messages from a "system", scores for a machine to read.

The patterns are a net for what honest answers never say; nothing depends on their being complete. What slips through earns
nothing either, since points come from causal links that the answer itself states.
"""

from __future__ import annotations

import base64
import binascii
import re

from autograder.answers.normalise import Normal, Span
from autograder.answers.segment import Sentence, sentences

_GRADING = r"阅卷|评卷|判卷|改卷|评分|评阅|打分|批改"
_WHO = r"者|人|员|老师|教师|系统|模型|程序|器|机器人|助手|官"
_GRADER = rf"(?:{_GRADING})(?:{_WHO})?|助教|(?:ai|人工智能)(?:模型|助手|评分|老师)|判题(?:系统|机)?"
_ADDRESSED = rf"(?:{_GRADING})(?:{_WHO})|助教|(?:ai|人工智能)(?:模型|助手|老师)|判题(?:系统|机)"  # a dispatcher too gives marks ("给每个配置打分：...")
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
            r"(?<![a-z])(?:give|award|grant|assign|mark|grade|score|rate|return|output|report)(?![a-z])[^.!?\n]{0,40}(?:(?:full|maximum|max|perfect|top|highest|all(?: the)?|100\s?%|[0-9]\s?/\s?[0-9]) (?:possible )?(?:marks?|points?|credits?|scores?|grades?)(?![a-z])|(?<![0-9.])[0-9] (?:marks?|credits?|points?(?! of (?!credit|the|[0-9])))(?![a-z])|all links)",
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
            rf"(?:{_ADDRESSED})[^。;!?\n]{{0,8}}(?:请注意|须知|请看|你好|:)|(?:评分|阅卷|判题)(?:系统|模型|老师)注意",
            rf"{_HEAD}(?:系统|管理员|开发者)(?:(?:提示|指令|消息|通知|命令|要求|说明)\s*[:】\]]|\s*:(?=[^。!?\n]{{0,80}}(?:[评判]|(?<![0-9.])[0-9]\s?分|得分|给分|本题|答案|学生|忽略|无视|指令|你)))|[【\[](?:系统|管理员|开发者|评分)[^】\]\n]{{0,8}}[】\]]",
            r"(?<![a-z])(?:you are|you're|act as|pretend (?:to be|you are)|imagine you are|behave as|roleplay as)(?: now| from now on)?,? (?:an?|the|my|our) [^.!?\n]{0,30}(?:grader|examiner|marker|teacher|assistant|ai|model|judge|professor|evaluator|chatbot|language model)(?![a-z])",
            r"(?<![a-z])as (?:an?|the|your) (?:\w+ )?(?:ai(?! \w+er)|grader|examiner|marker|grading|scoring|helpful|language model|judge|evaluator)(?![a-z])",
            r"(?<![a-z])(?:dear |hey |hello |hi |attention,? |note to (?:the )?|message to (?:the )?|to (?:the )?)(?:ai |automatic |llm )?(?:grader|examiner|marker|judge|evaluator|grading (?:model|system|assistant)|language model)(?![a-z])",
            r"(?<![a-z])(?:the|this|any) (?:ai |llm )?(?:grader|grading (?:model|system)|examiner|judge|evaluator) (?:must|should|has to|shall|will|needs to)(?![a-z])",
            rf"{_HEAD}(?:(?:system|assistant|developer)(?: prompt| message| note| override)\s*:|(?:system|assistant|developer)\s*:(?=[^.!?\n]{{0,80}}(?<![a-z])(?:grad|scor|mark|credit|award|student|answer|instruct|ignore|disregard|overrid|your?(?![a-z])|repl[yi]|respond|rubric|(?:links?|points?|slot)(?![a-z]))))|<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|###\s*(?:system|assistant)\s*:|(?:###|{_HEAD})\s*(?:instruction|response)\s*:|</?(?:answer|grade|system|instructions?|score|rubric|student_answer|user|assistant)>|jailbreak|developer mode|prompt injection",
            # scores for a machine to read
            r"[\"'](?:points?|score|grade|links|veto|lane|得分|分数)[\"']\s*[:=]|(?<![a-z])(?:points?|score|grade|links|veto|lane|得分|分数)\s?=\s?[\"']?(?:[0-9]|true|false|full|满分|auto)|(?<![a-z])(?:points?|score|grade|links|veto|lane|得分|分数)\s*:\s*(?:[\[{]|[\"']?(?:[0-9]+(?:\.[0-9]+)?|true|false|full|满分|q\d\.[\w.]+)[\"']?\s*(?=$|[.。;}\])/\n]|,\s?[\"']?(?:points?|score|grade|links|veto|lane|得分|分数)))",
        )
    ),
    re.M,
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/_-]{24,}={0,2})(?![A-Za-z0-9+/=_-])")
_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:(?:\\x|%)?[0-9a-fA-F]{2}[ :]?){24,}(?![0-9a-zA-Z])")


def passages(normal: Normal) -> list[Span]:
    """The passages of an answer that speak to the grader, widened to whole sentences, in order and without overlap."""
    found = [Span(*m.span()) for m in _INJECTION.finditer(normal.text)]
    sents = sentences(normal) if found else []
    return _merged([_passage(normal, sents, m) for m in found])


def encoded(normal: Normal) -> list[Span]:
    """Base64 or hexadecimal that decodes to readable text: an answer has no use for it."""
    raw = normal.original
    found = []
    for m in _BASE64.finditer(raw):
        word = m[0]
        try:
            plain = base64.b64decode(
                word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4),
                altchars=b"-_" if set(word) & set("-_") else None,
                validate=True,
            ).decode("utf-8")
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
