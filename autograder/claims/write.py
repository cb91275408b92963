"""What `course claims` writes: lessons/_variables.yml, which pages take their figures from, and the ledger page of each language."""

from __future__ import annotations

import json
import os
from pathlib import Path

from autograder.claims.ledger import Entry, Ledger
from autograder.claims.uses import LEDGER_FOLDER
from autograder.lesson.model import LANGS
from autograder.lesson.references import VARIABLES

_HEAD = (
    "# Written by `course claims` from each lesson's claims.yml and the measured data; change those, not this file.\n"
)

WORDS = {
    "zh": {
        "title": "数字账本",
        "description": "课文里的每个数字从哪里来。",
        "intro": "课文里每个测得的或引用的数字，都登记在这里：来自哪个测量文件，来自读过的哪份资料，或者由哪些数字算出。这一页由 `course claims` 从各课的 `claims.yml` 生成；数据改了而课文没有跟上，`course lint` 就不放行。测量文件都在课程仓库的 `figures/data` 里，各带收据。",
        "head": ("数字", "值", "来源"),
        "measured": "测量：",
        "read": "资料：",
        "computed": "计算：",
        "receipts": "收据",
        "receipt_head": ("测量文件", "设备", "命令", "时间", "提交"),
        "emulator": "CPU 模拟器",
        "lesson": "页面：",
    },
    "en": {
        "title": "The claims ledger",
        "description": "Where every figure in the lessons comes from.",
        "intro": "Every figure that a lesson measured or quotes is entered here: the file that measured it, the document it was read in, or the figures it is worked out from. `course claims` makes this page from each lesson's `claims.yml`; where the data have changed and the text has not, `course lint` fails. The measured files are in `figures/data` of the course's repository, each with its receipt.",
        "head": ("Figure", "Value", "From"),
        "measured": "Measured: ",
        "read": "Read: ",
        "computed": "Computed: ",
        "receipts": "Receipts",
        "receipt_head": ("File", "Device", "Command", "Time", "Commit"),
        "emulator": "CPU emulator",
        "lesson": "Page: ",
    },
}


def made_files(ledger: Ledger) -> dict[Path, str]:
    """Every file of the ledger with what it must hold."""
    lessons = ledger.root / "lessons"
    return {lessons / VARIABLES: variables(ledger)} | {
        lessons / LEDGER_FOLDER / f"{lang}.qmd": page(ledger, lang) for lang in LANGS
    }


def variables(ledger: Ledger) -> str:
    lines = [_HEAD]
    for group in _groups(ledger):
        lines += [f"{group}:\n"] + [
            f"  {e.name}: {json.dumps(e.shown, ensure_ascii=False)}\n" for e in ledger.of(group)
        ]
    return "".join(lines)


def _groups(ledger: Ledger) -> list[str]:
    return sorted({e.group for e in ledger.entries.values()})


def page(ledger: Ledger, lang: str) -> str:
    words = WORDS[lang]
    parts = [
        f"---\ntitle: {json.dumps(words['title'], ensure_ascii=False)}\ndescription: {json.dumps(words['description'], ensure_ascii=False)}\nlang: {lang}\n---",
        words["intro"],
    ]
    for group in _groups(ledger):
        entries = ledger.of(group)
        folder = entries[0].file.parent
        parts.append(f"## {_title(folder, lang)}")
        parts.append(f"{words['lesson']}[{folder.name}](../{folder.name}/{lang}.qmd)")
        parts.append(
            _table(words["head"], [(_cell(e.claim.says.get(lang)), _cell(e.shown), _origin(e, lang)) for e in entries])
        )
        if receipts := _receipts(ledger, entries, lang):
            parts += [f"**{words['receipts']}**", _table(words["receipt_head"], receipts)]
    return "\n\n".join(parts) + "\n"


def _title(folder: Path, lang: str) -> str:
    for line in (
        (folder / f"{lang}.qmd").read_text(encoding="utf-8").split("\n") if (folder / f"{lang}.qmd").is_file() else ()
    ):
        if line.startswith("title:"):
            return line.removeprefix("title:").strip().strip("\"'")
    return folder.name


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(r) + " |" for r in (head, ("---",) * len(head), *rows))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _origin(e: Entry, lang: str) -> str:
    words = WORDS[lang]
    if e.claim.receipt:
        return f"{words['measured']}`{Path(e.claim.receipt).name}`"
    if e.claim.source:
        return words["read"] + _cell(e.claim.source)
    return f"{words['computed']}`{' '.join(e.claim.compute.split())}`"


def _receipts(ledger: Ledger, entries: list[Entry], lang: str) -> list[tuple[str, ...]]:
    rows = []
    for name in dict.fromkeys(e.claim.receipt for e in entries if e.claim.receipt):
        receipt = json.loads((ledger.root / name).read_text(encoding="utf-8"))["receipt"]
        device = receipt["device"] if receipt["backend"] == "gpu" else f"{WORDS[lang]['emulator']}"
        rows.append(
            (
                f"`{Path(name).name}`",
                _cell(device),
                f"`{receipt['command']}`",
                receipt["time"][:10],
                f"`{receipt['commit'][:7]}`" if receipt.get("commit") else "-",
            )
        )
    return rows


def write_files(files: dict[Path, str]) -> list[Path]:
    """Write what differs; returns those."""
    changed = []
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            part = path.with_name(f".{path.name}.{os.getpid()}")
            part.write_text(text, encoding="utf-8")
            part.replace(path)  # whoever reads meanwhile has the old file or the new one
            changed.append(path)
    return changed


def drift(ledger: Ledger) -> list[str]:
    """What the committed files say otherwise than the claims: one sentence a figure, or a file."""
    out = []
    for path, text in made_files(ledger).items():
        name = path.relative_to(ledger.root)
        if not path.is_file():
            if not ledger.written:  # a project without claims needs no ledger
                continue
            out.append(f"{name}: The file is missing. Run `course claims`.")
        elif (old := path.read_text(encoding="utf-8")) != text:
            said = _changes(old, text) if path.name == VARIABLES else []
            out += [f"{name}: {s} Run `course claims` and read the pages that state it." for s in said] or [
                f"{name}: The file is not what the claims give. Run `course claims`."
            ]
    return out


def _changes(old: str, new: str) -> list[str]:
    before, after = _flat(old), _flat(new)
    out = [f"{k} is {after[k]} now, not {before[k]}." for k in after if k in before and before[k] != after[k]]
    return (
        out
        + [f"{k} is new." for k in after if k not in before]
        + [f"{k} is no claim any more." for k in before if k not in after]
    )


def _flat(text: str) -> dict[str, str]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return {
            f"{g}.{n}": str(v) for g, names in (YAML(typ="safe").load(text) or {}).items() for n, v in names.items()
        }
    except (YAMLError, AttributeError):
        return {}
