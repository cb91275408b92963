"""A small whole lesson that release, check, hint and lint are tested on. It is about a ring buffer, not about lesson 7."""

from __future__ import annotations

from pathlib import Path

SLUG = "lesson42_ring_index"
SOLUTION = "(step % stages, step // stages % 2)"

PAGE = {
    "zh": '''\
---
title: "第 42 课：环形缓冲区的下标"
lang: zh
---

::: {.callout-note appearance="simple"}
## 读法

这一课**很短**，公式 $i = s \\bmod n$ 只有一行：

$$
i = s
  \\bmod n
$$
:::

## 学完能做什么 {#goals}

- 算出下标。<!-- 作者备注：不要发布 -->

## 在路线中的位置

见[第 7 课](../lesson07_mixed_precision_epilogue/zh.qmd){.pagination-link}。

```{mermaid}
%%| fig-cap: "一圈"
flowchart LR
  a["一"] --> b["二"]
```

![图 42-1：`stages` 个格子](ring.zh.svg){#fig-ring width="80%" fig-alt="环"}

## 心智模型

::: {.callout-tip collapse="true" title="展开看看"}
### 里面的标题
下标绕回时相位翻转[^1]。
:::

[^1]: 相位只有一位。

## 具体演示

```{python}
#| course_role: experiment
print([s % 3 for s in range(7)])
```

## 填空

```{python}
#| course_role: exercise
def ring_index(step, stages):
    """返回 (下标, 相位)。"""
    # TODO：只补齐下面这个表达式。
    return ______

assert ring_index(4, 3) == (1, 1)
assert ring_index(2, 3) == (2, 0)
```

### 你的边界用例

```{python}
#| course_role: boundary
my_case = dict(step=______, stages=______)
my_prediction = ______
```

::: {.answer #explanation}
**解释你的实现：**
:::

### Q1

为什么要有相位？

::: {.answer #q1}
:::

### Q2

::: {.answer #q2}
:::

### Q3

::: {.answer #q3}
:::

## 评分

::: {.content-visible when-profile="answer"}
## 参考答案

```{python}
#| course_role: solution
def ring_index(step, stages):
    """返回 (下标, 相位)。"""
    return (step % stages, step // stages % 2)

assert ring_index(4, 3) == (1, 1)
```

秘密的参考解释。
:::

## 资料

- [一篇文章](https://example.org/a){target="_blank"}
''',
    "en": '''\
---
title: "Lesson 42: the index of a ring buffer"
lang: en
---

::: {.callout-note appearance="simple"}
## How to read

This lesson is **short**; the formula $i = s \\bmod n$ is one line:

$$
i = s
  \\bmod n
$$
:::

## What you will be able to do {#goals}

- Work out the index.<!-- author's note: not for release -->

## Where it stands in the route

See [lesson 7](../lesson07_mixed_precision_epilogue/en.qmd){.pagination-link}.

```{mermaid}
%%| fig-cap: "Once round"
flowchart LR
  a["one"] --> b["two"]
```

![Figure 42-1: `stages` slots](ring.en.svg){#fig-ring width="80%" fig-alt="a ring"}

## Mental model

::: {.callout-tip collapse="true" title="Unfold me"}
### A heading inside
The phase flips when the index wraps[^1].
:::

[^1]: The phase is one bit.

## Worked demonstration

```{python}
#| course_role: experiment
print([s % 3 for s in range(7)])
```

## Exercise

```{python}
#| course_role: exercise
def ring_index(step, stages):
    """Return (index, phase)."""
    # TODO: complete only the expression below.
    return ______

assert ring_index(4, 3) == (1, 1)
assert ring_index(2, 3) == (2, 0)
```

### Your boundary case

```{python}
#| course_role: boundary
my_case = dict(step=______, stages=______)
my_prediction = ______
```

::: {.answer #explanation}
**Explain your implementation:**
:::

### Q1

Why is there a phase?

::: {.answer #q1}
:::

### Q2

::: {.answer #q2}
:::

### Q3

::: {.answer #q3}
:::

## Scoring

::: {.content-visible when-profile="answer"}
## Reference answer

```{python}
#| course_role: solution
def ring_index(step, stages):
    """Return (index, phase)."""
    return (step % stages, step // stages % 2)

assert ring_index(4, 3) == (1, 1)
```

A secret reference explanation.
:::

## Sources

- [An article](https://example.org/a){target="_blank"}
''',
}

CHECKS = '''\
"""Hidden checks of lesson 42."""

FUNCTION = "ring_index"


def reference(step, stages):
    return (step % stages, step // stages % 2)


def is_boundary(args):
    return args.get("stages") == 1


def _case(zh, en, step, stages):
    return {"name": {"zh": zh, "en": en}, "args": {"step": step, "stages": stages}, "expect": reference(step, stages), "rtol": 0.0, "atol": 0.0}


def normal_cases(rng):
    return [_case("隐藏的正常输入", "a hidden normal input", int(rng.integers(100, 10_000)), 7), _case("另一个", "another", 31337, 4)]


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
        cause: {{zh: "下标绕回", en: "the index wraps"}}
        mechanism: {{zh: "相位翻转", en: "the phase bit flips"}}
        effect: {{zh: "能分辨两圈", en: "two rounds are told apart"}}
        rules: [{{zh: [["绕回"], ["翻转"]], en: [["wraps"], ["flips"]]}}]
        exemplars: {{zh: ["下标绕回时相位翻转，所以能分辨两圈"], en: ["the phase flips when the index wraps, so two rounds are told apart"]}}
        hint: {{zh: "想想第二圈", en: "think of the second round"}}
    reference: {{zh: "参考答案 {name}：秘密", en: "reference answer {name}: secret"}}
"""


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


def write_lesson(root: Path) -> Path:
    """Write the lesson into root/lessons (with the Quarto project's mark) and return its folder."""
    folder = root / "lessons" / SLUG
    folder.mkdir(parents=True)
    (root / "lessons" / "_quarto.yml").write_text("project:\n  type: website\n", encoding="utf-8")
    for lang, page in PAGE.items():
        (folder / f"{lang}.qmd").write_text(page, encoding="utf-8")
        (folder / f"ring.{lang}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3"/></svg>\n', encoding="utf-8")
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")
    (folder / "rubric.yml").write_text(rubric(), encoding="utf-8")
    return folder
