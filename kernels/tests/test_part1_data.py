"""The committed data of lessons 1 to 6 and 8: receipts, fields, and the facts that the lessons tell from them."""

import json
import re
from fnmatch import fnmatch

import pytest

from kernels import bench
from kernels.benches import emulated
from kernels.sources import CUDA_DIR
from kernels.specs.bulk_copy import wavefronts

DATA = CUDA_DIR.parents[1] / "figures" / "data"
MEASURED = sorted(
    p
    for pattern in ("lesson0[1-68]_*.json", "part1_*.json")
    for p in DATA.glob(pattern)
    if p.stem not in emulated.FILES
)


def read(name: str) -> dict:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def points(name: str, **where) -> list[dict]:
    return [p for p in read(name)["points"] if all(p[k] == v for k, v in where.items())]


def one(name: str, **where) -> dict:
    (point,) = points(name, **where)
    return point


def test_all_benches_have_been_run():
    ours = {n for n in bench.benches() if re.match(r"lesson0[1-68]_|part1_", n)}
    assert {p.stem for p in MEASURED} == ours


@pytest.mark.parametrize("path", MEASURED, ids=lambda p: p.stem)
def test_receipts_and_fields(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    made, r = bench.benches()[path.stem], record["receipt"]
    assert (
        "H200" in r["device"] and r["driver"] and r["time"].endswith("Z") and re.fullmatch(r"[0-9a-f]{40}", r["commit"])
    )
    assert set(r["sources"]) == set(made.kernels) and record["points"]
    fields = [f.strip() for key in record["fields"] for f in key.split(",")]
    assert not [k for p in record["points"] for k in p if not any(fnmatch(k, f) for f in fields)]


@pytest.mark.parametrize("name", emulated.FILES)
def test_data_of_the_emulator_say_so(name):
    record = read(name)
    fields = {f.strip() for key in record["fields"] for f in key.split(",")}
    assert record["receipt"]["backend"] == "emulator" and record["receipt"]["seed"] is not None
    assert {k for p in record["points"] for k in p} <= fields


# ---------------------------------------------------------------------------------------------- what the lessons tell
def test_lesson_1_ridge_and_ceilings():
    copy = one("lesson01_roofline", unit="copy")["tb_per_s"]
    fp32 = max(p["flop_per_s"] for p in points("lesson01_roofline", unit="fp32")) / 1e12
    bf16 = one("lesson01_roofline", variant="wgmma alone, random")["flop_per_s"] / 1e12
    assert 13 < fp32 / copy < 17 and 190 < bf16 / copy < 230
    for p in points("lesson01_roofline"):  # nothing is above the roof by more than pure reads are above a copy
        if p["intensity"]:
            roof = min(bf16 if p["unit"] == "bf16" else fp32, p["intensity"] * copy)
            assert p["flop_per_s"] / 1e12 < 1.06 * roof, p["variant"]


def test_lesson_2_one_curve_and_the_best_is_near_the_copy():
    stream = [p for p in points("lesson02_stream") if p["width"]]
    assert max(p["of_copy"] for p in stream) > 0.92
    by_bytes: dict[int, list[float]] = {}
    for p in stream:
        by_bytes.setdefault(p["bytes_in_flight"], []).append(p["of_copy"])
    assert all(max(v) < 1.5 * min(v) for v in by_bytes.values())  # whatever they are made of
    assert max(by_bytes[2048]) < 0.35 and min(by_bytes[32768]) > 0.9
    random, order = (
        one("lesson02_equal_loads", variant=f"gather, {v}")["loads_per_ns"] for v in ("at random", "in order")
    )
    assert order > 8 * random
    assert (
        60 < one("lesson02_sectors", variant="gather, at random")["dram_bytes_per_load"] < 70
    )  # 64 bytes for 4, and the index
    for p in points("lesson02_sectors"):
        assert abs(p["sectors_per_request_of_x"] - p["counted_sectors_per_request"]) < 0.01


def test_lesson_2_scattered_loads_are_limited_by_their_number_not_by_their_bytes():
    """Half the bytes from device memory are no faster; twice as many are slower only because they reach its bandwidth."""
    hinted = {g: one("lesson02_sectors", variant=f"gather, at random, L2 fetches {g} B") for g in (32, 128)}
    usual = one("lesson02_sectors", variant="gather, at random")
    assert usual["granularity"] == 64 and {g: p["granularity"] for g, p in hinted.items()} == {32: 32, 128: 128}
    assert 34 < hinted[32]["dram_bytes_per_load"] < 38 and 120 < hinted[128]["dram_bytes_per_load"] < 135
    assert (
        hinted[32]["dram_percent_of_peak"] < 35
        and 45 < usual["dram_percent_of_peak"] < 60
        and hinted[128]["dram_percent_of_peak"] > 80
    )
    rate = {h: one("lesson02_reach", bytes=1 << 30, hint=h)["loads_per_ns"] for h in (0, 32, 64, 128)}
    assert (
        0.9 * rate[64] < rate[32] < rate[64]
        and rate[128] < 0.9 * rate[64]
        and rate[0] == pytest.approx(rate[64], rel=0.02)
    )
    chases = [
        one("lesson02_equal_loads", variant=f"chase, {c} chains")["loads_per_ns"] for c in (4096, 16384, 65536, 131072)
    ]
    assert chases[1] > 3 * chases[0] and chases[3] == pytest.approx(
        chases[2], rel=0.05
    )  # more chains help until they do not


def test_lesson_3_the_hardware_agrees_with_the_model():
    assert (
        all(p["agree"] == 1 for p in points("lesson03_hardware_barrier"))
        and sum(p["phases"] for p in points("lesson03_hardware_barrier")) > 3000
    )
    assert any(p["tx_after"] < 0 for p in points("lesson03_barrier_states"))


def test_lesson_4_conflicts_cost_time_only_where_they_are_the_limit():
    for p in points("lesson04_bank_conflicts"):
        assert abs(p["wavefronts_per_tile"] / wavefronts(p["swizzle"], p["read"])["wavefronts"] - 1) < 0.01
    of = lambda side, swizzle, read: one("lesson04_transpose", side=side, swizzle=swizzle, read=read)["of_copy"]
    assert of(16384, 0, 4) < 0.5 < 0.88 < min(of(16384, 128, 4), of(16384, 0, 16), of(16384, 128, 16))
    assert of(2048, 0, 16) < 0.75 < 0.97 < of(2048, 128, 16)
    copies = {p["row_alignment"]: p["of_copy"] for p in points("lesson04_tile_copy", variant="tma_tile_copy")}
    assert min(copies[a] for a in (32, 64, 128)) > 0.92 > 0.75 > copies[16]


def test_lesson_5_the_law_of_small_tiles():
    for p in points("lesson05_rate", a_from="shared"):
        assert abs(p["cycles_per_wgmma"] - max(p["n"] / 2, 16 + p["n"] / 4)) < 0.1, p["n"]
    for p in points("lesson05_rate", a_from="registers"):
        assert abs(p["cycles_per_wgmma"] - max(p["n"] / 2, 13.5)) < 0.3, p["n"]


def test_lesson_6_the_first_four_stages_count():
    rate = {p["stages"]: p["tflop_per_s"] for p in points("lesson06_stages", m=4096) if p["stages"]}
    assert rate[4] > 2.4 * rate[1] and max(rate[s] for s in (5, 6, 7)) < 1.06 * rate[4]
    assert all(p["checked"] != "right" for p in points("lesson06_seeds") if p["bug"] != "none")
    assert all((p["checked"], p["unchecked"]) == ("right", "right") for p in points("lesson06_seeds", bug="none"))
    assert {p["unchecked"] for p in points("lesson06_seeds", bug="empty_before_wgmma_wait")} >= {
        "right",
        "wrong numbers",
    }


def test_lesson_8_no_tile_is_best_everywhere_and_a_spill_costs_most():
    best = [p for p in points("lesson08_configurations") if p["best"]]
    assert len({p["config"] for p in best}) >= 5 and max(p["of_fixed"] for p in best) > 2
    spilled, whole = one("lesson08_spill", accumulators=256), one("lesson08_spill", config="256x128")
    assert (
        spilled["spill_bytes"] > 1000
        and whole["spill_bytes"] == 0
        and whole["tflop_per_s"] > 6 * spilled["tflop_per_s"]
    )


def test_every_kernel_was_right_on_the_device():
    assert all(p["error"] <= p["bound"] for p in points("part1_correctness"))
    everyone = [p for p in points("part1_sanitizer") if "meeting" not in p]
    assert {p["tool"] for p in everyone} == {"memcheck", "racecheck"} and all(
        len(p["right"]) == 12 and " 0 " in p["summary"] for p in everyone
    )
    alone = [p for p in points("part1_sanitizer") if "meeting" in p]
    assert len(alone) == 6 and all(p["right"] == ["barrier_cost"] for p in alone)
    found = [(p["tool"], p["meeting"]) for p in alone if " 0 " not in p["summary"]]
    assert set(found) <= {("racecheck", "mbarrier, each warp")}  # not a race: the bench says why
