"""Every page is usable without a mouse and without eyes, as far as axe-core can tell, and its pictures can be read on a phone."""

import re
from pathlib import Path

import pytest

from autograder.site.pictures import LEAST_PX, least_width
from tests.site.visit import LANGS, Visit, all_pages

pytestmark = pytest.mark.browser
AXE = (Path(__file__).parents[1] / "support" / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RUN = """axe.run(document, {resultTypes: ['violations']}).then(r => r.violations
  .filter(v => v.impact === 'serious' || v.impact === 'critical')
  .flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120))))"""
# of what the page shows in pixels: [drawn width, width of its own, smallest font size as drawn] of each diagram's text
TEXTS = """[...document.querySelectorAll('svg.diagram, svg.control-svg')].filter(s => s.getBoundingClientRect().width > 0).map(s =>
  Math.min(...[...s.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * s.getBoundingClientRect().width
    / s.viewBox.baseVal.width)))"""
IMAGES = "[...document.querySelectorAll('.picture img')].map(i => [i.getAttribute('src'), i.getBoundingClientRect().width, i.alt])"


@pytest.mark.slow
@pytest.mark.parametrize("lang,width,scheme", [("en", 1300, "dark"), ("zh", 390, "light")])
def test_no_page_has_a_serious_finding(site, lang, width, scheme):
    found = {}
    with Visit(site, f"{lang}/index.html", width=width, scheme=scheme, bypass_csp=True, reduced_motion="reduce") as v:
        for path in all_pages(lang):
            v.page.goto(v.address + path)
            v.page.wait_for_load_state("networkidle")
            v.page.evaluate(AXE)
            found[path] = v.page.evaluate(RUN)
    assert {p: f for p, f in found.items() if f} == {}


@pytest.mark.parametrize("width", [390, 1440])
def test_text_in_pictures_is_never_smaller_than_12_pixels(site, built_site, width):
    small, seen = [], 0
    with Visit(site, "en/index.html", width=width) as v:
        for path in (p for lang in LANGS for p in all_pages(lang) if "accuracy" not in p and "kernels" not in p):
            v.page.goto(v.address + path)
            v.page.wait_for_load_state("networkidle")
            small += [f"{path}: {px:.1f}" for px in v.page.evaluate(TEXTS) if px < LEAST_PX - 0.1]
            for src, drawn, alt in v.page.evaluate(IMAGES):
                seen += 1
                least = least_width((built_site / path).parent.joinpath(src).read_text(encoding="utf-8"))
                small += [f"{path}: {src}"] if drawn < least - 1 or not alt else []
    assert small == [] and seen > 60


def test_the_skip_link_is_the_first_stop_and_leads_to_the_text(site):
    with Visit(site, "en/lesson06_smem_pipeline/index.html") as v:
        v.page.keyboard.press("Tab")
        assert v.page.evaluate("document.activeElement.className") == "skip-link"
        v.page.keyboard.press("Enter")
        v.page.keyboard.press("Tab")
        assert v.page.evaluate("!!document.activeElement.closest('main')")


def test_folds_open_and_close_by_the_keyboard(site):
    with Visit(site, "en/index.html") as v:
        fold = v.page.locator("#quarto-sidebar .sidebar-item-toggle").first
        fold.focus()
        part = v.page.locator("#quarto-sidebar-section-1")
        assert part.is_visible()
        v.page.keyboard.press("Enter")
        assert not part.is_visible() and fold.get_attribute("aria-expanded") == "false"
        v.page.keyboard.press("Space")
        assert part.is_visible()


def test_a_tap_enlarges_a_picture_and_escape_closes_it(site):
    with Visit(site, "zh/lesson06_smem_pipeline/index.html", width=390) as v:
        image = v.page.locator(".picture img").first
        image.scroll_into_view_if_needed()
        image.click()
        drawn = v.page.locator("dialog.zoom img").bounding_box()["width"]
        assert drawn > image.bounding_box()["width"] > 390
        v.page.keyboard.press("Escape")
        v.page.locator("dialog.zoom").wait_for(state="detached")  # the browser tells of the close in a later task


def test_a_phone_has_the_table_of_contents_at_the_top(site):
    with Visit(site, "zh/lesson03_async_barriers/index.html", width=390) as v:
        v.page.click(".toc-phone summary")
        v.page.locator(".toc-phone a").nth(3).click()
        assert re.search(r"#.+", v.page.url) and not v.page.locator(".toc-phone").get_attribute("open")


def test_print_is_light_whole_and_without_bars(site):
    with Visit(site, "en/lesson06_smem_pipeline/index.html", scheme="dark") as v:
        v.page.emulate_media(media="print")
        for gone in ("#quarto-header", "#quarto-sidebar", ".course-control", ".lesson-actions"):
            assert not v.page.locator(gone).first.is_visible(), gone
        assert v.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        clipped = (
            "[...document.querySelectorAll('main pre')].filter(p => getComputedStyle(p).overflowX !== 'visible').length"
        )
        assert v.page.evaluate(clipped) == 0
