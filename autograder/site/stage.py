"""One language and edition of the course, staged as a Quarto project that either renderer builds without running code.

lessons/NAME/zh.qmd and en.qmd become zh/NAME/index.qmd and en/NAME/index.qmd, so that the address tells the language and
the switch is a change of one folder. lessons/_quarto.yml is the one place that holds titles and sidebars.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from autograder.errors import CourseError
from autograder.lesson import Edition, load_lesson
from autograder.lesson.qmd import read_edition
from autograder.lesson.store import list_lessons
from autograder.release.divs import Div, Text, parse
from autograder.site.controls import control
from autograder.site.diagrams import drawn
from autograder.site.facts import facts
from autograder.site.head import home_head, lesson_head, services
from autograder.site.kernel_pages import sources, write_pages
from autograder.site.notes import marked
from autograder.site.outputs import lesson_outputs
from autograder.site.words import WORDS

ASSETS = Path(__file__).parent / "assets"
_YAML = YAML()
_YAML.width = 4096


@dataclass(frozen=True)
class Page:
    """A source page and where it goes: folder is relative to the language's root ("" for the home page)."""

    source: Path
    folder: str
    lesson: bool


def pages(lessons: Path, lang: str) -> list[Page]:
    """Every page of a language: home, the lessons, and other folders that hold <lang>.qmd (glossary, overview)."""
    found = []
    known = {p.name for p in list_lessons(lessons)}
    for source in sorted(lessons.glob(f"*/{lang}.qmd")):
        name = source.parent.name
        found.append(Page(source, "" if name == "home" else name, name in known))
    if not any(p.folder == "" for p in found):
        raise CourseError(
            f"The {lang} home page is missing.", where=str(lessons / "home" / f"{lang}.qmd"), remedy="Add it."
        )
    return found


class Stage:
    """One language and edition ("student" or "answer") staged for a renderer in the folder `out`; a page can be staged again by itself.

    bundles: the lessons' heads offer ../downloads/<lesson>.zip.
    """

    def __init__(
        self, lessons: Path, lang: str, edition: str, out: Path, renderer: str, progress=lambda m: None, bundles=False
    ):
        self.lessons, self.lang, self.edition, self.out, self.bundles = lessons, lang, edition, out, bundles
        self.progress = progress
        self.source_config = YAML(typ="safe").load((lessons / "_quarto.yml").read_text(encoding="utf-8"))
        self.words = WORDS[lang]
        self.loaded = {p.name: load_lesson(p) for p in list_lessons(lessons)}
        self.known = {slug: facts(lesson, lang, sources()) for slug, lesson in self.loaded.items()}
        self._project(renderer)

    def _project(self, renderer: str) -> None:
        """Everything but the pages of the course: settings, styles, kernel sources, the page for lost addresses."""
        config, out = _config(self.lessons, self.source_config, self.lang, self.edition), self.out
        out.mkdir(parents=True, exist_ok=True)
        html = self.source_config["format"]["html"]
        if renderer == "smalldocs":
            config["format"]["html"]["theme"] = _smalldocs_themes(out)
        else:
            config |= {"filters": self.source_config["filters"]}
            config["format"]["html"] |= {k: html[k] for k in ("theme", "respect-user-color-scheme")}
            for name in ("page.lua", "theme.scss"):
                shutil.copy(self.lessons / name, out / name)
        _YAML.dump(config, out / "_quarto.yml")
        shutil.copytree(ASSETS, out / "site_assets", ignore=shutil.ignore_patterns("__pycache__", "css"))
        shutil.copy(self.lessons / "favicon.svg", out / "site_assets" / "favicon.svg")
        # one file: a page's first paint waits for each
        styles = [self.lessons / "course.css", *sorted((ASSETS / "css").glob("*.css"))]
        css = "".join(p.read_text(encoding="utf-8") for p in styles)
        (out / "site_assets" / "course.css").write_text(css, encoding="utf-8")
        write_pages(out, self.words, self.lang, self.edition)
        lost = f'---\ntitle: "{self.words["lost"]}"\nlang: {self.lang}\n---\n\n{self.words["lost_text"]}\n'
        (out / "404.qmd").write_text(lost, encoding="utf-8")

    def all(self) -> Path:
        """Stage every page; returns the project's folder."""
        for page in pages(self.lessons, self.lang):
            self.page(page)
        return self.out

    def again(self, page: Page) -> Path:
        """Stage a page whose source has changed; returns what was written."""
        if page.lesson:
            slug = page.source.parent.name
            self.loaded[slug] = load_lesson(page.source.parent)
            self.known[slug] = facts(self.loaded[slug], self.lang, sources())
        return self.page(page)

    def page(self, page: Page) -> Path:
        target, slug = self.out / page.folder, page.source.parent.name
        target.mkdir(parents=True, exist_ok=True)
        self.progress(f"{self.lang} {page.folder or 'home'}")
        if page.lesson:
            outputs = lesson_outputs(self.loaded[slug], self.loaded[slug].edition(self.lang))
        else:
            read_edition(page.source, self.lang)  # raises where a figure is unknown
            outputs = {}
        source = read_edition(page.source, self.lang, marked(page.source.parent))
        _copy_assets(page.source.parent, target)
        labels = self.source_config["course-words"][self.lang]
        text = _body(source, outputs, self.edition, target, labels)
        text = drawn(text, page.source.parent, self.words, self.progress)
        if page.lesson and _accuracy(page.source.parent, target, self.lang):
            text += f"\n\n{self.words['accuracy']}"
        text = self._head(page) + text
        front = {k: v for k, v in source.front.items() if k not in {"jupyter", "other-links"}}
        front["lang"] = self.lang
        if not page.folder:
            front |= {"toc": False, "page-layout": "full"}  # its first screen needs the width
        with (target / "index.qmd").open("w", encoding="utf-8") as f:
            f.write("---\n")
            _YAML.dump(front, f)
            f.write(f"---\n\n{_links(text, page, self.lang)}\n")
        return target / "index.qmd"

    def _head(self, page: Page) -> str:
        """What stands above a lesson's text, and above that of the home page."""
        slug = page.source.parent.name
        if page.lesson:
            opens = services(self.source_config, self.lang, slug)
            return lesson_head(self.known[slug], self.known, self.words, self.bundles, opens) + "\n\n"
        if not page.folder and self.known and (page.source.parent / "assets" / "controls").is_dir():
            return home_head(page.source.parent, self.known, self.words, self.lang, self.bundles) + "\n\n"
        return ""


def _config(lessons: Path, data: dict, lang: str, edition: str) -> dict:
    """lessons/_quarto.yml (data) narrowed to one language: its sidebar, its words, local libraries."""
    site = data["website"]
    sidebars = site.get("sidebar", [])
    side = next((s for s in sidebars if s.get("id") == lang), None)
    if side is None:
        raise CourseError(
            f"There is no sidebar with id {lang}.",
            where=str(lessons / "_quarto.yml"),
            remedy="Add one for each language.",
        )
    words = WORDS[lang]
    other = "en" if lang == "zh" else "zh"
    side = {k: v for k, v in side.items() if k != "id"} | {"contents": _hrefs(side["contents"], lang)}
    tools = [{"text": data["course-words"][other]["language"], "href": f"../{other}/index.html", "rel": "alternate"}]
    return {
        "project": {"type": "website", "output-dir": "_site"},
        "website": {
            "favicon": "site_assets/favicon.svg",
            "title": words["site_title"] + (words["answer_suffix"] if edition == "answer" else ""),
            "navbar": {"left": [{"text": words["home"], "href": "index.qmd"}], "right": tools},
            "search": False,  # the course has its own, the same under either renderer
            "page-navigation": True,
            "bread-crumbs": False,
            "sidebar": side,
        },
        "format": {
            "html": {
                "toc": True,
                "toc-title": words["toc"],
                "toc-depth": 3,
                "code-copy": True,
                "css": "site_assets/course.css",
                "html-math-method": "katex",  # closed.py points it at the local copy
            }
        },
    }


def _smalldocs_themes(out: Path) -> dict:
    """Plain Bootstrap and its own dark colours as two themes: they use system fonts, so no font comes from another host."""
    from smalldocs import __file__ as package

    light = (Path(package).parent / "assets" / "vendor" / "bootstrap" / "bootstrap.min.css").read_text(encoding="utf-8")
    # smalldocs switches stylesheets; the dark rules of Bootstrap become the rules of the second one
    dark = light.replace("[data-bs-theme=dark]", ":root,[data-bs-theme=dark]")
    (out / "light.css").write_text(light, encoding="utf-8")
    (out / "dark.css").write_text(dark, encoding="utf-8")
    return {"light": "light.css", "dark": "dark.css"}


def _hrefs(contents: list, lang: str) -> list:
    """Sidebar entries with NAME/<lang>.qmd made NAME/index.qmd."""
    out = []
    for entry in contents:
        if isinstance(entry, str):
            out.append(_href(entry, lang))
        else:
            entry = dict(entry)
            if "href" in entry:
                entry["href"] = _href(entry["href"], lang)
            if "contents" in entry:
                entry["contents"] = _hrefs(entry["contents"], lang)
            out.append(entry)
    return out


def _href(href: str, lang: str) -> str:
    name, _, file = href.rpartition("/")
    if file != f"{lang}.qmd":
        return href
    return "index.qmd" if name == "home" else f"{name}/index.qmd"


def _links(text: str, page: Page, lang: str) -> str:
    """Links between source pages, rewritten to the staged ones. ](../NAME/zh.qmd#x) keeps its anchor."""
    up = "../" if page.folder else ""

    def one(m: re.Match) -> str:
        path, anchor = m["path"], m["anchor"] or ""
        parts = Path(path).parts
        if parts[-1] not in {"zh.qmd", "en.qmd"}:
            return m[0]
        to = parts[-1][:2]
        name = parts[-2] if len(parts) > 1 and parts[-2] != ".." else page.source.parent.name
        folder = "" if name == "home" else f"{name}/"
        if to == lang:
            return f"]({up}{folder}index.qmd{anchor})"
        return f"]({up}../{to}/{folder}index.html{anchor})"

    return re.sub(r"\]\((?P<path>[\w./-]+\.qmd)(?P<anchor>#[^)\s]*)?\)", one, text)


def _copy_assets(source: Path, target: Path) -> None:
    if (source / "assets").is_dir():
        # diagrams and the data of controls go into the page itself
        shutil.copytree(
            source / "assets",
            target / "assets",
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("diagrams", "controls"),
        )


def _accuracy(lesson: Path, target: Path, lang: str) -> bool:
    """The answer scorer's published accuracy as a page beside the lesson's; False where the lesson has none."""
    if not (lesson / "accuracy.json").is_file():
        return False
    from autograder.answers.accuracy import page  # loads the scorer, so only here

    data = json.loads((lesson / "accuracy.json").read_text(encoding="utf-8"))
    title, _, body = page(data, lang).partition("\n")
    (target / "accuracy.qmd").write_text(
        f"---\ntitle: {json.dumps(title.lstrip('# ').removesuffix(data['lesson']).strip(), ensure_ascii=False)}\nlang: {lang}\n---\n{body}",
        encoding="utf-8",
    )
    return True


def _body(source: Edition, outputs: dict[int, list], edition: str, target: Path, labels: dict[str, str]) -> str:
    """The page's Markdown with code cells as display code and their outputs, and the parts of this edition only. labels: what stands above a
    cell of each role, and in an answer slot."""
    number = {id(cell): i for i, cell in enumerate(source.cells)}

    def emit(div: Div, depth: int) -> list[str]:
        parts = []
        for child in div.children:
            if isinstance(child, Text):
                parts.append("\n".join(child.lines).strip("\n"))
            elif isinstance(child, Div):
                if child.answer_edition and edition == "student":
                    continue
                inside = emit(child, depth + 1)
                if "when-profile" in child.attrs.values:  # this edition's: the wrapper has done its work
                    parts += inside
                else:
                    fence = ":" * (12 - depth)
                    parts.append("\n\n".join([f"{fence} {_attrs(child)}", *inside, fence]))
            elif child.kind == "code":
                if child.role != "solution" or edition == "answer":
                    if name := child.options.get("course_control"):
                        parts.append(
                            control(name, source.path.parent, WORDS[source.lang], f"{source.path}:{child.line}")
                        )
                    parts.append(_code(child, outputs.get(number[id(child)], []), target, number[id(child)], labels))
            else:
                parts.append(f"::: {{#{child.slot} .answer-slot}}\n{child.source.strip() or labels['slot']}\n:::")
        return [p for p in parts if p]

    return "\n\n".join(emit(parse(source.cells), 0))


def _attrs(div: Div) -> str:
    a = div.attrs
    words = ([f"#{a.id}"] if a.id else []) + [f".{c}" for c in a.classes] + [f'{k}="{v}"' for k, v in a.values.items()]
    return "{" + " ".join(words) + "}"


def _code(cell, outputs: list, target: Path, index: int, labels: dict[str, str]) -> str:
    title = labels.get(cell.role or "")
    shown = (
        ""
        if cell.options.get("echo") is False or cell.options.get("include") is False
        else f"```python\n{cell.source}\n```"
    )
    pieces = [f"[{title}]{{.cell-role .role-{cell.role}}}" if title and shown else "", shown]
    pieces += [_output(o, target, f"cell{index}-{n}") for n, o in enumerate(outputs)]
    if cell.options.get("include") is False:
        return ""
    return "::: {.course-cell}\n\n" + "\n\n".join(p for p in pieces if p) + "\n\n:::"


def _output(output, target: Path, name: str) -> str:
    """One output as Markdown that both renderers read."""
    kind = output.output_type
    if kind == "stream":
        return "" if output.name == "stderr" else _pre(output.text)
    data = output.get("data", {})
    if "image/svg+xml" in data or "image/png" in data:
        folder = target / "outputs"
        folder.mkdir(exist_ok=True)
        suffix = "svg" if "image/svg+xml" in data else "png"
        raw = data["image/svg+xml"].encode() if suffix == "svg" else base64.b64decode(data["image/png"])
        (folder / f"{name}.{suffix}").write_bytes(raw)
        return f"![](outputs/{name}.{suffix}){{.cell-figure}}"
    if "text/html" in data:
        return f'```{{=html}}\n<div class="cell-output">{data["text/html"]}</div>\n```'
    if "text/markdown" in data:
        return "::: {.cell-output}\n\n" + data["text/markdown"] + "\n\n:::"
    return _pre(data["text/plain"]) if "text/plain" in data else ""


def _pre(text: str) -> str:
    clean = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip("\n")
    fence = "`" * max(3, 1 + max((len(m) for m in re.findall(r"`+", clean)), default=0))
    return f"::: {{.cell-output}}\n{fence}\n{clean}\n{fence}\n:::" if clean else ""
