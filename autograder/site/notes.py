"""What a figure of the text tells when it is pointed at: what it is, where it was measured or read, its receipt and date."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

from autograder.claims import Entry, Ledger, read_ledger
from autograder.lesson.references import figures_of
from autograder.paths import course_root


def marked(folder: Path) -> Mapping[str, str]:
    """Every figure as a span that names its claim, for the page in `folder`."""
    return {k: f'[{v}]{{.claim data-claim="{k}"}}' for k, v in figures_of(folder).items()}


def claims(lang: str, lessons: Path) -> dict[str, dict[str, str]]:
    """{"lesson06.rate_1": {"says", "shown", "kind": measured|read|computed|emulated, "from", ...receipt}}."""
    root = lessons.parent if (lessons.parent / "figures").is_dir() else course_root()
    ledger = read_ledger(root)
    return {key: _told(entry, ledger, lang) for key, entry in ledger.entries.items()}


def _told(entry: Entry, ledger: Ledger, lang: str) -> dict[str, str]:
    claim = entry.claim
    told = {"says": claim.says.get(lang), "shown": entry.shown, "page": entry.file.parent.name}
    if claim.source:
        return told | {"kind": "read", "from": claim.source}
    if claim.compute:
        return told | {"kind": "computed", "from": " ".join(claim.compute.split())}
    receipt = _receipt(ledger.root / claim.receipt)
    return told | {
        "kind": "measured" if receipt["backend"] == "gpu" else "emulated",
        "from": Path(claim.receipt).name,
        "device": receipt["device"] if receipt["backend"] == "gpu" else "",
        "date": receipt["time"][:10],
        "command": receipt["command"],
        "commit": (receipt.get("commit") or "")[:7],
    }


@functools.lru_cache(maxsize=128)
def _receipt(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))["receipt"]


def write_data(site: Path, name: str, data) -> None:
    """Course.data[name] as a script, which a page loads when it is asked for, also from file://."""
    folder = site / "site_data"
    folder.mkdir(exist_ok=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    (folder / f"{name}.js").write_text(f"Course.data[{json.dumps(name)}]={text};\n", encoding="utf-8")
