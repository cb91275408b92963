"""The two halves of the vocabulary say the same: every word there is on the device is there on the host, and both compile."""

import importlib.util
import re
from pathlib import Path

import pytest

from kernels import nvrtc
from kernels.emulator import build
from kernels.sources import CUDA_DIR, Source

HERE = Path(__file__).parent
USES_ALL = HERE / "vocabulary.cu"
DEVICE = ["hopper_device.cuh", "hopper_device_tma.cuh", "hopper_device_wgmma.cuh"]
spec = importlib.util.spec_from_file_location("generate_wgmma", CUDA_DIR / "generate_wgmma.py")
generate_wgmma = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate_wgmma)


def words(name: str) -> set[str]:
    text = (CUDA_DIR / name).read_text(encoding="utf-8")
    return set(re.findall(r"^(?:template <[^>]*> ?\n?)?HOPPER_FN [\w:]+[&*]? (\w+)\(", text, re.M))


def test_the_generated_header_is_current():
    assert (CUDA_DIR / "hopper_device_wgmma.cuh").read_text(encoding="utf-8") == generate_wgmma.generate()


def test_both_halves_know_the_same_widths():
    host = (CUDA_DIR / "hopper_host.h").read_text(encoding="utf-8")
    body = host[host.index("hopper_wgmma_width(int n)") :].partition("}")[0]
    assert tuple(map(int, re.findall(r"n == (\d+)", body))) == generate_wgmma.WIDTHS


def test_every_word_has_both_halves_and_is_compiled():
    host, used = (CUDA_DIR / "hopper_host.h").read_text(encoding="utf-8"), USES_ALL.read_text(encoding="utf-8")
    everything = set().union(*map(words, DEVICE))
    assert {"tma_load_2d", "mbarrier_wait", "wgmma_ss", "stmatrix_x4", "reg_dec"} <= everything
    for word in everything:
        assert re.search(rf"\b{word}\(", host), f"{word} is missing in hopper_host.h"
    conversions = {
        "float_to_bf16",
        "float_to_fp16",
        "float_to_e4m3",
        "fp16_to_float",
        "e4m3_to_float",
        "smem_address",
    }  # used through others
    for word in everything - conversions:
        assert re.search(rf"\b{word}\b", used), f"vocabulary.cu does not use {word}"


def test_inline_ptx_is_in_the_device_half_only():
    for path in CUDA_DIR.iterdir():
        if path.suffix in (".cu", ".cuh", ".h") and not path.name.startswith("hopper_device"):
            assert not re.search(r"\basm\b", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("instrument", [False, True])
def test_host_half_compiles(instrument):
    assert build(USES_ALL, ["vocab"], instrument=instrument).library.exists()


@pytest.mark.nvrtc
def test_device_half_compiles_for_sm_90a():
    text = USES_ALL.read_text(encoding="utf-8")
    built = nvrtc.compile_source(Source(name="vocabulary.cu", text=text, files=(USES_ALL,), sha256=""), {})
    assert "vocab" in built.resources
