"""The built website in a real browser, both languages: what a reader sees and clicks."""

import pytest

from autograder.lesson import list_lessons
from autograder.site import build_site
from tests.support.browser import chromium, served

pytestmark = pytest.mark.browser
LESSON = "lesson07_mixed_precision_epilogue"
NEXT = "lesson08_kernel_selection"
OTHER = {"zh": "en", "en": "zh"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    build_site(out, renderer="smalldocs")
    with served(out) as address, chromium() as browser:
        yield address, browser


@pytest.fixture(params=["zh", "en"])
def lang(request):
    return request.param


class Visit:
    """A page opened in a context of its own; remembers requests to other hosts, failed loads and console errors."""

    def __init__(self, site, path, width=1300, scheme="light"):
        self.address, browser = site
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.outside, self.errors = [], []
        self.page.on(
            "request",
            lambda r: self.outside.append(r.url) if not r.url.startswith((self.address, "data:", "blob:")) else None,
        )
        self.page.on("response", lambda r: self.errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(self.address + path)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.context.close()


def _all_pages(lang):
    return (
        [f"{lang}/index.html"]
        + [f"{lang}/{page}/index.html" for page in ("overview", "foreign", "write", "claims", "glossary")]
        + [f"{lang}/{p.name}/{page}.html" for p in list_lessons() for page in ("index", "accuracy")]
    )


@pytest.fixture(scope="module")
def seen(site):
    """What each page showed, by path: each is loaded once, wide, and then made as narrow as a phone."""
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    found = {}
    for path in (p for lang in OTHER for p in _all_pages(lang)):
        with Visit(site, path) as v:
            v.page.wait_for_load_state("networkidle")
            images = v.page.evaluate(broken)
            v.page.set_viewport_size({"width": 390, "height": 800})
            v.page.wait_for_timeout(200)
            found[path] = {
                "outside": v.outside,
                "errors": v.errors,
                "broken": images,
                "width": v.page.evaluate("document.documentElement.scrollWidth"),
            }
    return found


def test_every_page_loads_whole_and_asks_no_other_host(seen, lang):
    assert {p: (seen[p]["outside"], seen[p]["errors"]) for p in _all_pages(lang)} == {
        p: ([], []) for p in _all_pages(lang)
    }


def test_the_start_page_leads_to_the_default_edition(site):
    with Visit(site, "index.html") as v:
        v.page.wait_for_url("**/zh/index.html")
        assert v.page.get_attribute("html", "lang") == "zh"


def test_the_language_switch_stays_on_the_page_and_comes_back(site, lang):
    with Visit(site, f"{lang}/{LESSON}/index.html") as v:
        v.page.click('.navbar a[rel="alternate"]')
        v.page.wait_for_url(f"**/{OTHER[lang]}/{LESSON}/index.html")
        assert v.page.get_attribute("html", "lang") == OTHER[lang]
        v.page.click('.navbar a[rel="alternate"]')
        v.page.wait_for_url(f"**/{lang}/{LESSON}/index.html")


def test_sidebar_and_previous_next_lead_through_the_course(site, lang):
    with Visit(site, f"{lang}/index.html") as v:
        v.page.click(f'#quarto-sidebar a[href*="{LESSON}"]')
        v.page.wait_for_url(f"**/{lang}/{LESSON}/index.html")
        v.page.click(".nav-page-next a")
        v.page.wait_for_url(f"**/{lang}/{NEXT}/index.html")
        v.page.click(".nav-page-previous a")
        v.page.wait_for_url(f"**/{lang}/{LESSON}/index.html")


def test_the_lesson_leads_to_the_scorers_accuracy(site, lang):
    with Visit(site, f"{lang}/{LESSON}/index.html") as v:
        v.page.click('main a[href*="accuracy"]')
        v.page.wait_for_url(f"**/{lang}/{LESSON}/accuracy.html")
        assert "kappa" in v.page.inner_text("main table")


@pytest.mark.parametrize("lang,word", [("zh", "累加器"), ("en", "accumulator")])
def test_search_finds_the_lesson_by_a_word_of_its_text(site, lang, word):
    with Visit(site, f"{lang}/index.html") as v:
        v.page.fill('input[type="search"]', word)
        hit = v.page.locator(f'.search-result[href*="{LESSON}"], .search-result a[href*="{LESSON}"]').first
        hit.wait_for()
        hit.click()
        v.page.wait_for_url(f"**/{LESSON}/index.html*")


def test_math_and_diagrams_are_drawn_in_both_colour_schemes(site, lang):
    for scheme in ("light", "dark"):
        with Visit(site, f"{lang}/{LESSON}/index.html", scheme=scheme) as v:
            v.page.wait_for_selector(f'pre.mermaid[data-drawn="{scheme}"] svg')
            assert v.page.locator("pre.mermaid").count() == v.page.locator("pre.mermaid svg").count() > 0
            assert v.page.locator(".math").count() == v.page.locator(".math .katex").count() > 0
            assert v.page.locator(".katex-error").count() == 0


def test_the_dark_mode_button_changes_page_and_diagrams_and_is_remembered(site, lang):
    background = "getComputedStyle(document.body).backgroundColor"
    with Visit(site, f"{lang}/{LESSON}/index.html") as v:
        light = v.page.evaluate(background)
        v.page.click(".quarto-color-scheme-toggle")
        v.page.wait_for_selector('pre.mermaid[data-drawn="dark"] svg')
        assert v.page.evaluate(background) != light
        v.page.reload()
        v.page.wait_for_selector('pre.mermaid[data-drawn="dark"] svg')


def test_no_page_is_wider_than_a_phone(seen, lang):
    assert {p: seen[p]["width"] for p in _all_pages(lang)} == {p: 390 for p in _all_pages(lang)}


def test_every_image_of_every_page_has_loaded(seen, lang):
    assert {p: seen[p]["broken"] for p in _all_pages(lang)} == {p: [] for p in _all_pages(lang)}
