"""Figures told as seen, in whatever words; and those that are supposed, chosen, predicted, worked out or quoted."""

from __future__ import annotations

import re

import pytest

from autograder.grading.evidence import find_claims
from autograder.grading.sentences import sentences
from autograder.grading.told import digits, told_in
from autograder.submission.read.match import Reading
from autograder.submission.read.notebook import NbCell

PAGE = "On an H200 the kernel without the guard took 1.43 times as long. | 8 warps | 1.91 TB/s |\nWith 20 seeds the race shows in 7. 43 % more. It takes 2.71 ms. C7517"

OWN = [
    "My H100 needed 3.11 ms for it.", "Our lab's H200 did it in 3.11 ms.", "My numbers are 2.04 ms and 3.11 ms.", "What came out on my side was 3.11 ms.", "I did the measurement: 3.9 TB/s.", "I rented an H200 and the kernel stayed at 3.29 ms, as I saw on my terminal.",
    "It deadlocked on our card after 3 seconds.", "Colab and my laptop: four seconds.", "我的显卡用了 3.11 ms。", "我这边的数字是 3.11 ms 和 2.04 ms。", "實驗室的 H200 上用時 3.11 ms。", "亲眼所见，耗时 3.11 ms。", "我这块卡的带宽只有 2.91 TB/s。", "三点一一毫秒，这是我的显卡给的。",
    "If you look closely, my H100 needed 3.37 ms.", "The formula gives 3.0 ms, my H100 gives 3.37 ms.", "For example, on my machine it takes 3.37 ms.", "It should be said that my card took 3.37 ms.", "我预测 3 ms，结果我的卡用了 3.37 ms。", "例如在我的机器上是 3.37 ms。",
    "If I remember right, my H100 needed 3.11 ms.", "如果没记错，我的显卡跑了 3.11 ms。",
]  # fmt: skip
TOLD = [
    "I saw 3.11 ms fall to 2.04 ms.", "I found it to be 1.52 times slower.", "Timings over 100 launches: mean 2.04 ms, standard deviation 0.02 ms.", "The stopwatch read 2.04 ms with the guard.", "%timeit says 3.11 ms for this cell.", "perf_counter returned 3.11 ms.",
    "According to nvidia-smi it ran 3.11 ms.", "Empirically it is 1.52x slower.", "In practice the time went from 2.04 ms to 3.11 ms.", "After removing the guard it became 1.52x slower: 3.11 ms instead of 2.04 ms.", "The experiment: 32 warps 3.9 TB/s, 8 warps 1.1 TB/s.",
    "Removing the guard cost 1.07 ms in twenty repetitions.", "Before: 3.11 ms. After: 2.04 ms.", "Elapsed: 3.11 ms.", "Nsight's counter stood at 4096 bank conflicts afterwards.", "Of the 20 seeds 8 failed here.", "In 9 out of 20 seeds the result was wrong.", "Five runs, two deadlocks.",
    "I get 1.51x.", "It made the kernel 51 % slower when we built it without the guard.", "12 seeds out of 20 gave garbage.", "没想到要 3.94 ms。", "课程说 1.39 倍，我得到 1.51 倍。",
    "As I expected, it took 3.37 ms.", "I chose 20 runs and the mean was 3.37 ms.", "Because I removed the guard it took 3.37 ms.", "I computed 3.0 ms and saw 3.37 ms.", "I calculated the mean of my 20 timings as 3.37 ms.", "Hardware says 1.47x, theory says 1.5x.", "正如我预期的，用了 3.37 ms。", "理论 1.5 倍，实际 1.47 倍。", "我取了二十次的平均，3.37 ms。",
    "上机结果：3.11 ms。", "计时器给出 3.11 ms。", "把守卫删掉再来一次，时间多了 1.07 ms。", "二十次的中位数从 2.04 ms 变成 3.11 ms。", "测定值为 3.11 ms。", "Nsight 里看，41% 的周期卡在访存。", "二十个种子跑完，八个失败。", "跑出的加速比是 1.47。", "手机秒表掐了一下，四秒。", "三次分别是 3.29、3.30、3.28 ms。",
]  # fmt: skip
NOT_TOLD = [
    "If each load takes 412 ns and 8 are in flight, the rate is 8 * 128 / 412 ns per warp.", "At 3.35 TB/s and 412 ns one needs 1.38 MB in flight.", "I predict about 27 % more time.", "I chose bandwidth = 1.7e12 and latency = 431 ns.", "I take 2.5 TB/s and 640 ns.", "Suppose the kernel took 3.11 ms; then it is slow.",
    "The bound is 4.17 ms because 14 GB / 3.35 TB/s = 4.18 ms.", "Reading C adds 4 bytes to 8, that is 50 % more.", "A warp waits 600 cycles in the worst case.", "Is 3.11 ms too slow for that?", "How does it become 1.52 times slower?", "Let the latency be 480 ns.", "I calculated 2.33 ms from the bytes and the bandwidth.",
    "I did not measure it; by arithmetic 1.33x.", "Doubling the stages gains at most 10 % once the latency is hidden.", "Whoever times it gets launch overhead of some 5 us as well.", "I found that the ratio is 1.5x by counting bytes.", "I saw that in figure 7-3 the bar is 41 % longer.", "I found in the NVIDIA documentation that L2 latency is about 270 cycles.",
    "136 tiles on 132 SMs take 2 rounds, efficiency 136/264 = 51.5 %.", "17 % 8 = 1, so row 17 begins at 2176.", "I would run 20 seeds; 7 may fail.", "The lesson's kernel took 1.39 times as long.", "Nsight would show 4096 conflicts.", "At 1.7 GHz a cycle is 0.588 ns.", "A race that shows in 1 of 20 seeds is still a race.", "If my H100 took 3.11 ms, my H200 would take 2.17 ms.", "I predict 3.11 ms on my H100.", "My test case has latency 1 s.", "According to the lesson, the kernel took 1.39 times as long.", "Our kernel has 2 stages, so 50 % of the time one of them is empty.", "I get 4.18 ms from 14 GB / 3.35 TB/s.",
    "每次访存要等 412 ns，同时在飞 8 个，所以速率是 8*128/412。", "我取带宽 1.7 TB/s、延迟 431 ns。", "假设一次要 3.11 ms，加上守卫后应该是 2.04 ms。", "多读 4 字节，8 变 12，多了 50%。", "理论上 14 GB / 3.35 TB/s = 4.18 ms。", "慢 3.11 ms 算不算多？", "我没有测，按字节算是 1.33 倍。", "令延迟为 480 ns。",
    "只用到每个扇区的四分之一，就浪费了 75% 的带宽。", "我算出来是 2.33 ms（字节数除以带宽）。", "我发现三次传输变两次，就是 1.5 倍。", "我看到图 7-3 里慢了 41%。", "要测出 1% 的差别，得跑 100 次。", "乘法要 N/2 周期，SS 读共享内存要 16+N/4 周期。", "多出 4 个要再跑一轮。",
]  # fmt: skip


def found(text, page=PAGE, **cell):
    book = Reading(type("Book", (), {"text": page}) if page else None, [NbCell("code", "f(1)", 0, **cell)])
    book.answers["q2"] = text
    return [(f.code, f.severity) for f in find_claims(book)]


@pytest.mark.parametrize("text", [*OWN, *TOLD])
def test_a_figure_told_as_seen_that_stands_nowhere_is_for_a_person(text):
    assert found(text) == [("claim_without_output", "review")]
    assert found(text, outputs=["ok"], executed=1)[0][0] in ("figure_not_in_outputs", "claim_without_receipt")
    assert {severity for _, severity in found(text, outputs=["ok"], executed=1)} == {"review"}


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_is_supposed_chosen_predicted_worked_out_or_quoted_is_not_told(text):
    assert found(text) == found(text, outputs=["ok"], executed=1) == []


@pytest.mark.parametrize(
    "text",
    [
        "The kernel took 1.43 times as long.",
        "It was 43 % slower.",
        "The experiment: 1.91 TB/s with 8 warps.",
        "Timings: 2710 us.",
        "中位数是 2.71 毫秒。",
        "实验结果：慢了 1.43 倍。",
        "Of the 20 seeds 7 failed.",
    ],
)
def test_the_lessons_figures_may_be_told_without_their_source(text):
    assert found(text) == []
    assert found(text, page="") != []


@pytest.mark.parametrize(
    "text", ["My H100 needed 2.71 ms.", "我的显卡用了 2.71 ms。", "On our card it took 1.43 times as long."]
)
def test_the_lessons_figure_is_not_ones_own(text):
    assert found(text) == [("claim_without_output", "review")]


def test_a_number_of_another_unit_is_another_figure():
    assert found("Elapsed: 2.04 ms.", page="2048 threads, 2.04 TB/s, 204 cycles, 2 ms") != []
    assert found("Elapsed: 2.04 ms.", page="it takes 2040 us") == []
    assert found("Elapsed: 2.04 ms.", page="| time in ms | 2.04 |") == []
    assert found("The stopwatch read 4 s.", page="| stages | 4 |") != [], "a bare 4 stands on every page"


def test_figures_of_the_outputs_and_what_follows_from_them():
    shown = {"outputs": ["guarded 2.04 ms, unguarded 3.11 ms"], "executed": 1}
    for text in (
        "Timings: 2.04 ms and 3.11 ms, 1.07 ms more.",
        "My numbers are 2.04 ms and 3.11 ms, 1.52x.",
        "我看到时间从 2.04 ms 变成 3.11 ms，慢了 52%。",
    ):
        assert found(text, **shown) == []
    assert found("My numbers are 2.04 ms and 3.29 ms.", **shown) == [("figure_not_in_outputs", "review")]
    assert found("My H100 needed 3.11 ms.", **shown) == [("claim_without_receipt", "review")]


def test_what_the_student_chose_as_his_case_is_no_measurement():
    book = Reading(type("Book", (), {"text": PAGE}), [NbCell("code", "f(1)", 0)])
    book.found["boundary_case"] = [NbCell("code", "got = bytes_in_flight(bandwidth=2.37e12, latency=431e-9)", 1)]
    book.answers["q2"] = "In the boundary cell it was 2.37 TB/s, and the latency 431 ns."
    assert find_claims(book) == []
    book.answers["q2"] = "In the boundary cell it was 2.41 TB/s."
    assert find_claims(book) != []


def test_the_quote_is_what_the_student_wrote():
    text = "守衛很重要。實驗室的 **H200** 上用時 ３.11 ms，沒錯。所以值得。"
    book = Reading(None, [NbCell("code", "f(1)", 0)])
    book.answers["q2"] = text
    (finding,) = find_claims(book)
    assert re.search(r"“(.*)”", finding.message.zh)[1] == "實驗室的 **H200** 上用時 ３.11 ms，沒錯。"


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("three point one", "3.1"),
        ("twenty", "20"),
        ("三点一四", "3.14"),
        ("二十五", "25"),
        ("一百", "100"),
        ("3.1", "3.1"),
        ("半", "0.5"),
    ],
)
def test_numbers_in_words(said, number):
    assert digits(said) == number


@pytest.mark.parametrize(
    "text",
    [
        "3.1 ms " * 2000,
        "I saw " * 2000 + "3.1 ms",
        "of 20 runs " * 1000,
        "```\n" * 2000 + "3.1 ms",
        "9" * 20_000 + " ms",
        "1e999 ms was 1e-999 ms",
        "(" * 5000 + "3.1 ms took",
        "我" * 20_000 + "看到 3.1 ms",
    ],
)
def test_any_text_is_read_in_little_time(text):
    import time

    began = time.process_time()
    for s in sentences(text):
        told_in(s)
    found(text, outputs=["1.5"])
    assert time.process_time() - began < 3
