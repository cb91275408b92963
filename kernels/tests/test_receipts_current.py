"""Every measured file in figures/data was made from the kernel sources that are in the tree now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernels.sources import load_source
from kernels.spec import get_spec

DATA = sorted((Path(__file__).resolve().parents[2] / "figures" / "data").glob("*.json"))


@pytest.mark.parametrize("path", DATA, ids=lambda p: p.stem)
def test_the_receipt_hashes_the_sources_of_today(path):
    receipt = json.loads(path.read_text(encoding="utf-8"))["receipt"]
    sources = receipt.get("sources") or {
        receipt["kernel"]: receipt["source_sha256"]
    }  # a single launch's receipt names one kernel
    old = [name for name, sha in sources.items() if load_source(get_spec(name).source).sha256 != sha]
    assert not old, (
        f"{path.name} was measured from other sources of {old}: run `course bench {path.stem}` on a GPU again."
    )
