"""A small whole lesson that release, check, hint and lint are tested on. It is about a ring buffer, not about lesson 7."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

SLUG = "lesson42_ring_index"
SOLUTION = "(step % stages, step // stages % 2)"

# Both editions in one text: [[Chinese|English]].
PAGE = """\
---
title: "[[第 42 课：环形缓冲区的下标|Lesson 42: the index of a ring buffer]]"
lang: [[zh|en]]
---

::: {.callout-note appearance="simple" title="[[读法|How to read]]"}
[[这一课**很短**，公式 $i = s \\bmod n$ 只有一行：|This lesson is **short**; the formula $i = s \\bmod n$ is one line:]]

$$
i = s
  \\bmod n
$$
:::

## [[学完能做什么|What you will be able to do]] {#goals}

- [[算出下标。|Work out the index.]]<!-- [[作者备注：不要发布|author's note: not for release]] -->

## [[在路线中的位置|Where it stands in the route]]

[[见|See the ]][ [[术语表|glossary]] ](../glossary/[[zh|en]].qmd){.pagination-link}.

## [[心智模型|The mental model]]

### [[它是什么|What it is]]

```{mermaid}
%%| fig-cap: "[[一圈|Once round]]"
flowchart LR
  a["[[一|one]]"] --> b["[[二|two]]"]
```

![ [[图 42-1：|Figure 42-1: ]]`stages`](ring.[[zh|en]].svg){#fig-ring width="80%" fig-alt="[[环|a ring]]"}

### [[它怎样工作|How it works]]

::: {.callout-tip collapse="true" title="[[展开看看|Unfold me]]"}
[[先看一句话。|One sentence first.]]

### [[里面的标题|A heading inside]]
[[下标绕回时相位翻转|The phase flips when the index wraps]][^1].
:::

[^1]: [[相位只有一位。|The phase is one bit.]]

FILLER

### [[正确性条件与常见误区|Correctness conditions and common mistakes]]

[[级数为 1 时每一步都绕回。|With one stage every step wraps.]]

### [[性能与取舍|Performance and trade-offs]]

[[级数越多，占的共享内存越多。|More stages take more shared memory.]]

## [[演示|Demonstration]]

```{python}
#| course_role: experiment
print("[[余数|the remainders]]", [s % 3 for s in range(7)])
```

```{python}
#| course_role: experiment
from ipywidgets import interact

def show(stages=3):
    print(f"[[下标|indices]] {[s % stages for s in range(7)]}")

interact(show, stages=(1, 6));
```

## [[练习|Exercise]]

```{python}
#| course_role: exercise
def ring_index(step, stages):
    # [[TODO：只补齐下面这个表达式。|TODO: complete only the expression below.]]
    return ______

assert ring_index(4, 3) == (1, 1)
assert ring_index(2, 3) == (2, 0)
```

## [[怎样检查|How to check]]

```{python}
#| course_role: boundary
my_case = dict(step=______, stages=______)
my_prediction = ______
```

::: {.answer #explanation}
**[[解释你的实现：|Explain your implementation:]]**
:::

## [[运行真正的 kernel|Run the real kernel]]

```{python}
#| course_role: kernel
print(ring_index(5, 3))
```

## [[挑战：kernel 里的同一行|Challenge: the same line in the kernel]]

```{python}
#| course_role: challenge
my_line = "______"
```

## [[思考题|Questions]]

### Q1

[[为什么要有相位？|Why is there a phase?]]

::: {.answer #q1}
:::

### Q2

[[没有相位会怎样？|What goes wrong without it?]]

::: {.answer #q2}
:::

### Q3

[[几级合适？|How many stages?]]

::: {.answer #q3}
:::

## [[评分|Scoring]]

[[8 分通过。|8 points pass.]]

:::: {.content-visible when-profile="answer"}

::: {.callout-tip collapse="true" title="[[参考答案|Reference answer]]"}
```{python}
#| course_role: solution
def ring_index(step, stages):
    # [[秘密|secret]]
    return (step % stages, step // stages % 2)

assert ring_index(4, 3) == (1, 1)
```

REFERENCES
:::

::::

## [[资料|Sources]]

- [ [[一篇文章|An article]] ](https://example.org/a){target="_blank"}

## [[上一课与下一课|Previous and next]]

[[没有。|None.]]
"""

CHECKS = '''\
"""Hidden checks of lesson 42."""

FUNCTION = "ring_index"
RANGES = {"step": (0, 40_000), "stages": (1, 7)}


def reference(step, stages):
    return (step % stages, step // stages % 2)


def is_boundary(args):
    return args.get("stages") == 1


def _case(zh, en, step, stages):
    return {"name": {"zh": zh, "en": en}, "args": {"step": step, "stages": stages}, "expect": reference(step, stages), "rtol": 0.0, "atol": 0.0}


def normal_cases(rng):
    known = [_case("已知的输入", "a known input", step, stages) for step, stages in ((20011, 7), (511, 6), (263, 5), (38, 3), (1, 2), (2, 3), (3, 2), (4, 7), (5, 2), (6, 5), (7, 3), (39_999, 5))]
    return known + [_case("隐藏的正常输入", "a hidden normal input", int(rng.integers(100, 10_000)), 7), _case("另一个", "another", 31337, 4), _case("奇数级", "odd stages", 10, 5)]


def boundary_cases(rng):
    return [_case("只有一级", "one stage only", 5, 1), _case("第零步", "step zero", 0, 6)]
'''

_SLOT = """\
  {name}:
    points: {points}
    question: {{zh: "问题 {name}", en: "question {name}"}}
    full: 1
    links:
      - id: {name}.flip
        kind: {kind}
        zh: 下标绕回 -> 相位翻转 -> 能分辨两圈
        en: the index wraps -> the phase bit flips -> two rounds are told apart
        hint: {{zh: "想想第二圈", en: "think of the second round"}}
    misconceptions:
      - id: {name}.wrong
        veto: true
        zh: 相位没有用
        en: the phase is useless
        hint: {{zh: "再想想", en: "think again"}}
"""


def reference() -> str:
    """reference.yml"""
    return "".join(
        f'{name}: {{zh: "参考答案 {name}：秘密", en: "reference answer {name}: secret"}}\n'
        for name in ("explanation", "q1", "q2", "q3")
    )


def rubric() -> str:
    kinds = {"explanation": "mechanism", "q1": "mechanism", "q2": "correctness", "q3": "tradeoff"}
    slots = "".join(_SLOT.format(name=n, points=1 if n == "explanation" else 2, kind=k) for n, k in kinds.items())
    hints = "".join(
        f'  - {{zh: "{zh}", en: "{en}"}}\n'
        for zh, en in [
            ("看取模", "look at the remainder"),
            ("下标取余，相位数圈", "the index is a remainder, the phase counts rounds"),
            ("圈数是整除", "rounds are a floor division"),
            (f"完整答案：return {SOLUTION}", f"the full answer: return {SOLUTION}"),
        ]
    )
    return f"lesson: {SLUG}\nslots:\n{slots}hints:\n{hints}"


FILLER = {
    "zh": "生产者和消费者各自数步，下标绕回时翻转相位，所以两边不必交换别的东西。",
    "en": "Producer and consumer each count their steps and flip the phase when the index wraps, so they need to exchange nothing else.",
}
REFERENCE = {"zh": "参考答案 {name}：秘密", "en": "reference answer {name}: secret"}


def page(lang: str) -> str:
    """One edition of the page, as long as a lesson has to be."""
    text = re.sub(r"\[\[(.*?)\|(.*?)\]\]", r"\1" if lang == "zh" else r"\2", PAGE)
    text = text.replace("[ ", "[").replace(" ](", "](")
    references = "\n\n".join(REFERENCE[lang].format(name=n) for n in ("explanation", "q1", "q2", "q3"))
    return text.replace("FILLER", "\n\n".join([FILLER[lang]] * 100)).replace("REFERENCES", references)


def answers() -> str:
    """answers.jsonl: one full answer a slot and language to learn from, and one a slot kept aside."""
    rows = []
    for slot in ("explanation", "q1", "q2", "q3"):
        for lang, text in (
            ("zh", "下标绕回时相位翻转，所以能分辨两圈"),
            ("en", "the phase flips when the index wraps, so two rounds are told apart"),
        ):
            for split in ("train", "calibration") if lang == "zh" else ("train",):
                piece = {"text": text, "has": [f"{slot}.flip"], "denies": [], "wrong": False}
                rows.append(
                    {
                        "id": f"{slot}-{lang}-{split}",
                        "slot": slot,
                        "lang": lang,
                        "writer": "fixture",
                        "split": split,
                        "segments": [piece],
                    }
                )
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)


def accuracy(folder: Path) -> str:
    """accuracy.json, as far as lint reads it."""
    return json.dumps(
        {
            f"{n}_sha256": hashlib.sha256((folder / f"{n}{end}").read_bytes()).hexdigest()
            for n, end in (("answers", ".jsonl"), ("rubric", ".yml"))
        }
    )


def write_lesson(root: Path) -> Path:
    """Write the lesson into root/lessons (with the Quarto project's mark) and return its folder."""
    folder = root / "lessons" / SLUG
    folder.mkdir(parents=True)
    (root / "lessons" / "_quarto.yml").write_text("project:\n  type: website\n", encoding="utf-8")
    (root / "lessons" / "glossary").mkdir()
    for lang in ("zh", "en"):
        (folder / f"{lang}.qmd").write_text(page(lang), encoding="utf-8")
        (root / "lessons" / "glossary" / f"{lang}.qmd").write_text("...", encoding="utf-8")
        (folder / f"ring.{lang}.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3"/></svg>\n',
            encoding="utf-8",
        )
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")
    (folder / "rubric.yml").write_text(rubric(), encoding="utf-8")
    (folder / "reference.yml").write_text(reference(), encoding="utf-8")
    (folder / "answers.jsonl").write_text(answers(), encoding="utf-8")
    (folder / "accuracy.json").write_text(accuracy(folder), encoding="utf-8")
    return folder
