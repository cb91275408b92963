"""Writes kernels/dispatch_table.json from the measured figures of lesson 8: `python -m figures.dispatch_table`."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "kernels" / "dispatch_table.json"
KEPT = ("device", "driver", "time", "command", "commit", "source_sha256", "sms")


def text() -> str:
    load = lambda name: json.loads((HERE / "data" / f"{name}.json").read_text(encoding="utf-8"))
    grid, unseen = load("lesson08_configurations"), load("lesson08_unseen")
    shapes: dict[tuple, dict] = {}
    for p in grid["points"]:
        shapes.setdefault((p["m"], p["n"], p["k"]), {})[p["config"]] = round(1e3 * p["ms"], 3)
    random = {
        (p["m"], p["n"], p["k"]): {k[3:]: round(1e3 * v, 3) for k, v in p.items() if k.startswith("ms_")}
        for p in unseen["points"]
        if p["kind"] == "shape"
    }
    tables = {
        name: {
            "receipt": {k: v for k, v in source["receipt"].items() if k in KEPT},
            "shapes": [[*size, times] for size, times in table.items()],
        }
        for name, source, table in (("grid", grid, shapes), ("unseen", unseen, random))
    }
    return json.dumps(tables, indent=None, separators=(",", ":")).replace("],[", "],\n[") + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8", newline="\n")
