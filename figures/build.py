"""Finding, drawing and checking figures.

A figure is a module figures/lessonNN_name.py, or figures/gemm_name.py or overview_name.py where it belongs to no one lesson, with

    LESSON = "lesson07_mixed_precision_epilogue"   whose assets/ it goes into; or FOLDER = "figures/drawn"
    DATA = ("lesson07_beta_guard.json",)        files of figures/data it draws; () where it computes its own
    TITLE = {"zh": .., "en": ..}; DESCRIPTION = {"zh": .., "en": ..}   for screen readers
    def data(*loaded) -> dict                   exactly what is drawn, plain numbers and strings
    def plot(d: dict, lang: str) -> matplotlib Figure

The SVG's metadata hold the hash of what `data` returned and of the script: a test compares them, so that neither a new
measurement nor a changed script can leave an old picture behind.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import io
import json
import re
import warnings
from pathlib import Path
from types import ModuleType

from figures import style

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LANGS = ("zh", "en")
_MODULE = re.compile(r"^(lesson\d\d|gemm|overview)_\w+$")


class Figure:
    """One figure, read from its module."""

    def __init__(self, module: ModuleType):
        self.module = module
        self.script = Path(module.__file__)
        self.name = self.script.stem

    def files(self) -> list[Path]:
        return [HERE / "data" / name for name in self.module.DATA]

    def data(self) -> dict:
        """What is drawn. Raises FileNotFoundError with the remedy where measured data are missing."""
        missing = [p for p in self.files() if not p.is_file()]
        if missing:
            raise FileNotFoundError(
                f"{self.name}: {missing[0].relative_to(ROOT)} is not there. It is measured on a GPU by `course bench`."
            )
        return self.module.data(*(json.loads(p.read_text(encoding="utf-8")) for p in self.files()))

    def target(self, lang: str) -> Path:
        if folder := getattr(self.module, "FOLDER", ""):
            return ROOT / folder / f"{self.name.replace('_', '-')}.{lang}.svg"
        short = self.name.split("_", 1)[1].replace("_", "-")
        return ROOT / "lessons" / self.module.LESSON / "assets" / f"{short}.{lang}.svg"

    @property
    def awaited(self) -> bool:
        """Whether it waits for its lesson to be written: there is no folder for it yet."""
        return not getattr(self.module, "FOLDER", "") and not (ROOT / "lessons" / self.module.LESSON).is_dir()


def all_figures() -> list[Figure]:
    """Every figure that has a script, also those whose lesson is not written yet."""
    names = sorted(p.stem for p in HERE.glob("*.py") if _MODULE.match(p.stem))
    return [Figure(importlib.import_module(f"figures.{name}")) for name in names]


def find_figures() -> list[Figure]:
    """The figures to draw: those whose lesson is there."""
    return [f for f in all_figures() if not f.awaited]


def fingerprint(figure: Figure, data: dict) -> str:
    """sha256 over the drawn data, the script and the style. Layout and comments of the Python draw nothing and do not count."""
    h = hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode())
    for path in (figure.script, HERE / "style.py"):
        h.update(ast.dump(ast.parse(path.read_text(encoding="utf-8"))).encode())
    return h.hexdigest()


def draw(figure: Figure) -> list[Path]:
    """Draw both languages. Returns the files written."""
    data = figure.data()
    mark = fingerprint(figure, data)
    written = []
    for lang in LANGS:
        buffer = io.StringIO()
        # Layout is measured with a Latin font; CJK text is drawn by the reader's own.
        with style.styled(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            drawn = figure.module.plot(data, lang)
            style.whole_powers(drawn)
            drawn.savefig(
                buffer,
                format="svg",
                metadata={
                    "Date": None,
                    "Creator": None,
                    "Identifier": f"sha256:{mark}",
                    "Source": f"figures/{figure.script.name}",
                },
            )
        path = figure.target(lang)
        path.parent.mkdir(parents=True, exist_ok=True)
        svg = style.finish_svg(buffer.getvalue(), figure.module.TITLE[lang], figure.module.DESCRIPTION[lang])
        path.write_text(svg, encoding="utf-8", newline="\n")
        written.append(path)
    return written


def stale(figure: Figure) -> list[str]:
    """What is wrong with the committed drawings of a figure, in sentences."""
    try:
        mark = fingerprint(figure, figure.data())
    except FileNotFoundError as e:
        return [str(e)]
    problems = []
    for lang in LANGS:
        path = figure.target(lang)
        if not path.is_file():
            problems.append(f"{path.relative_to(ROOT)} is missing.")
        elif f"sha256:{mark}" not in path.read_text(encoding="utf-8"):
            problems.append(f"{path.relative_to(ROOT)} was drawn from other data or by another version of its script.")
    return problems
