"""What belongs into each part of a lesson page: one sentence a section, in both languages. The sections are lint's own list."""

BELONGS = {
    "goals": (
        "学完能做到的两三件事，每条以动词开头；再写怎样算通过。",
        "Two or three things a student will be able to do, each beginning with a verb; then how to pass.",
    ),
    "route": (
        "先修什么，前一课讲到哪里，这一课解锁哪一课。",
        "What a student needs, where the lesson before ended, which lesson this one opens.",
    ),
    "model": ("用一两句话说清这一课的唯一概念。", "The lesson's one concept in a sentence or two."),
    "what": (
        "它是什么：先说没有它会怎样，再下定义。",
        "What it is: first what goes wrong without it, then the definition.",
    ),
    "how": (
        "按输入、状态变化、输出讲清机制，并配一张图。",
        "The mechanism as input, state change, output, with a diagram.",
    ),
    "correctness": (
        "正确性条件，以及常见的错误写法各错在哪里。",
        "The conditions of correctness, and what each common mistake does.",
    ),
    "tradeoffs": (
        "实测数字说明什么、什么时候不成立；数字一律写进 claims.yml 再引用。",
        "What the measured figures mean and when they do not hold; every figure is a claim that the text refers to.",
    ),
    "demonstration": (
        "带数字的演示，参数放在单元格顶上让学生改。",
        "A worked demonstration with numbers, its parameters on top for the student to change.",
    ),
    "exercise": (
        "说清函数要返回什么、边界是什么；只留一个空。",
        "What the function returns and where its boundary lies; one blank only.",
    ),
    "check": (
        "怎样自查，什么样的边界输入能让错误的写法露馅。",
        "How to check, and which boundary inputs betray a wrong fill.",
    ),
    "kernel": (
        "让真正的 kernel 与学生的函数对照，再按种子重现一个缺陷。",
        "The real kernel against the student's function, then a defect reproduced by its seed.",
    ),
    "challenge": (
        "kernel 里的同一行，可用的名字有哪些。",
        "The same line inside the kernel, and the names it may use.",
    ),
    "questions": ("每题都要写成因果链。", "Every answer is a causal chain."),
    "q1": ("问机制：输入、状态变化、输出。", "Ask for the mechanism: input, state change, output."),
    "q2": (
        "问一个错误的后果：正确性和性能各是什么。",
        "Ask for the consequences of one mistake, for correctness and for performance.",
    ),
    "q3": ("问取舍：什么时候选这个，什么时候选那个。", "Ask for a choice: when this, when that."),
    "scoring": (
        "分数表、通过条件、一票否决的错误因果链。",
        "The table of points, what a pass needs, and the wrong causal chains that are a veto.",
    ),
    "sources": (
        "读过的文档及其章节、源码路径、论文。",
        "The documents and their sections, source paths and papers that were read.",
    ),
    "neighbours": ("上一课和下一课各是什么。", "Which lessons come before and after."),
}
EXPLAIN = ("解释你的实现", "Explain your implementation")
EXPLANATION_QUESTION = (
    "判断条件为什么这样写，边界输入会让哪种错误露馅？",
    "Why is the line written this way, and which mistake does your boundary input betray?",
)
FILL_HERE = ("只补齐下面这个表达式。", "complete only the expression below.")
REFERENCE = {
    "explanation": ("内行会署名的参考答案：解释。", "A reference answer that an expert would sign: the explanation."),
    "q1": ("内行会署名的参考答案：第一题。", "A reference answer that an expert would sign: Q1."),
    "q2": ("内行会署名的参考答案：第二题。", "A reference answer that an expert would sign: Q2."),
    "q3": ("内行会署名的参考答案：第三题。", "A reference answer that an expert would sign: Q3."),
}
FOLDED = ("点击展开：参考实现与参考答案", "Unfold: reference solution and reference answers")
DESCRIPTION = ("一句话说清这一课。", "The lesson in one sentence.")
