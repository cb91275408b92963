"""The built website in a real browser, both languages: what a reader sees and clicks."""

import pytest

from tests.site.visit import LANGS, Visit, all_pages

pytestmark = pytest.mark.browser
LESSON = "lesson07_mixed_precision_epilogue"
NEXT = "lesson08_kernel_selection"
OTHER = {"zh": "en", "en": "zh"}


@pytest.fixture(params=["zh", "en"])
def lang(request):
    return request.param


@pytest.fixture(scope="module")
def seen(site):
    """What each page showed, by path: each is loaded once, wide, and then made as narrow as a phone."""
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    found = {}
    for path in (p for lang in LANGS for p in all_pages(lang)):
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
    assert {p: (seen[p]["outside"], seen[p]["errors"]) for p in all_pages(lang)} == {
        p: ([], []) for p in all_pages(lang)
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
        v.page.fill(".course-search input", word)
        hit = v.page.locator(f'.search-result[href*="{LESSON}"]').first
        hit.wait_for()
        hit.click()
        v.page.wait_for_url(f"**/{LESSON}/index.html*")


def test_math_is_drawn_in_both_colour_schemes(site, lang):
    for scheme in ("light", "dark"):
        with Visit(site, f"{lang}/{LESSON}/index.html", scheme=scheme) as v:
            v.page.wait_for_selector(".math .katex")
            assert v.page.locator(".math").count() == v.page.locator(".math .katex").count() > 0
            assert v.page.locator(".katex-error").count() == 0


def test_the_dark_mode_button_changes_page_and_diagrams_and_is_remembered(site, lang):
    background = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.diagram text')).fill"
    with Visit(site, f"{lang}/{LESSON}/index.html") as v:
        light = v.page.evaluate(background), v.page.evaluate(ink)
        v.page.click(".quarto-color-scheme-toggle")
        v.page.wait_for_selector("html.quarto-dark")
        dark = v.page.evaluate(background), v.page.evaluate(ink)
        assert dark[0] != light[0] and dark[1] != light[1]
        v.page.reload()
        v.page.wait_for_selector("html.quarto-dark")
        assert (v.page.evaluate(background), v.page.evaluate(ink)) == dark


def test_no_page_is_wider_than_a_phone(seen, lang):
    assert {p: seen[p]["width"] for p in all_pages(lang)} == {p: 390 for p in all_pages(lang)}


def test_every_image_of_every_page_has_loaded(seen, lang):
    assert {p: seen[p]["broken"] for p in all_pages(lang)} == {p: [] for p in all_pages(lang)}
