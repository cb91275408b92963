"""Putting the in-page exercise into the built pages of one language."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path

from autograder.lesson.model import Lesson
from autograder.site.doing.data import allowed_names, lesson_data, notebook_data, program
from autograder.site.doing.words import page_words

DO = "site_assets/do"
RUNTIME = "site_vendor/micropython"
SCRIPTS = ("words", "python", "editor", "notebook", "page")  # in this order; the frame has loaded progress.js
_IMPORT = re.compile(r'^import \{ *loadMicroPython *\} from "[^"]*";\n', re.M)


def put_doing(site: Path, lang: str, lessons: list[Lesson], bundles: bool = True) -> None:
    """Write the data of each lesson beside its page, and what all of them share; have the pages load it.

    bundles: the site holds the lessons' bundles, which the page offers where Python cannot run; it offers the notebook in any case.
    site: the built pages of one language, with site_assets and site_vendor in place.
    """
    do, runtime = site / DO, site / RUNTIME
    size = sum((runtime / f"micropython.{x}").stat().st_size for x in ("mjs", "wasm")) // 1000
    words = page_words(lang) | {"size": str(size)}
    (do / "words.js").write_text(_script("courseWords", words), encoding="utf-8")
    (do / "program.js").write_text(
        _script("courseProgram", {"source": program(), "names": allowed_names()}), encoding="utf-8"
    )
    (do / "from-file.js").write_text(_script("courseFromFile", _for_files(do, runtime)), encoding="utf-8")
    shutil.move(do / "sw.js", site / "sw.js")  # it serves the pages at and below its own address
    for lesson in lessons:
        put_lesson(site, lang, lesson, bundles)


def put_lesson(site: Path, lang: str, lesson: Lesson, bundles: bool) -> None:
    """The data of one lesson and the scripts of its page, whose shared parts are in place."""
    folder = site / lesson.slug
    (folder / "do.js").write_text(_script("courseDo", lesson_data(lesson, lang, bundles)), encoding="utf-8")
    released = notebook_data(lesson, lang)
    (folder / "do-notebook.js").write_text(_script("courseNotebook", released), encoding="utf-8")
    (folder / f"{lesson.slug}.ipynb").write_text(
        json.dumps(released, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    page = folder / "index.html"
    page.write_text(_with_scripts(page.read_text(encoding="utf-8")), encoding="utf-8")


def _script(name: str, value: object) -> str:
    """Data as a script: a page opened as a file may load scripts, and may not fetch."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("\u2028", "\\u2028")
    return f"window.{name} = {text.replace(chr(0x2029), chr(92) + 'u2029')};\n"


def _for_files(do: Path, runtime: Path) -> dict[str, str]:
    """For a page opened as a file, where no worker can be loaded by its address: the worker as one text, and the WebAssembly."""
    loader = (runtime / "micropython.mjs").read_text(encoding="utf-8")  # a module, made an ordinary script
    for module_only, instead in (
        ("export default _createMicroPythonModule;", ""),
        ("export async function loadMicroPython", "async function loadMicroPython"),
        ("import.meta.url", "self.location.href"),
    ):
        assert module_only in loader, f"micropython.mjs has no {module_only}"
        loader = loader.replace(module_only, instead)
    worker, found = _IMPORT.subn("", (do / "worker.js").read_text(encoding="utf-8"))
    assert found == 1, "worker.js imports loadMicroPython on a line of its own"
    return {
        "worker": f"(async () => {{\n{worker}\n{loader}\n}})();",  # the worker's part first: it listens at once
        "wasm": base64.b64encode((runtime / "micropython.wasm").read_bytes()).decode(),
    }


def _with_scripts(html: str) -> str:
    tags = [f'<link rel="stylesheet" href="../{DO}/do.css">', '<script src="do.js" defer></script>']
    tags += [f'<script src="../{DO}/{name}.js" defer></script>' for name in SCRIPTS]
    return html.replace("</head>", "".join(tags) + "</head>", 1)
