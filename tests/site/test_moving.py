"""What moves on the pages, by keyboard, and what search, notes, ledger and home do in a browser, in both languages."""

import json

import pytest

from autograder.lesson import list_lessons
from autograder.paths import lessons_dir
from tests.site.visit import LANGS, Visit

pytestmark = pytest.mark.browser
WHERE = {
    "roofline": "lesson01_roofline", "little": "lesson02_memory_bound", "barrier": "lesson03_async_barriers",
    "swizzle": "lesson04_bulk_copy", "fragment": "lesson05_wgmma", "ring": "lesson06_smem_pipeline",
    "error": "lesson07_mixed_precision_epilogue", "dispatch": "lesson08_kernel_selection", "waves": "lesson08_kernel_selection",
}  # fmt: skip
SHOWN = "e => [e.querySelector('svg').innerHTML, e.querySelector('.control-text').innerText]"


@pytest.fixture(params=LANGS)
def lang(request):
    return request.param


def _data(name):
    folder = WHERE.get(name, "home")
    return json.loads((lessons_dir() / folder / "assets" / "controls" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", WHERE)
def test_every_input_of_a_control_changes_picture_or_text_by_the_keyboard(site, lang, name):
    with Visit(site, f"{lang}/{WHERE[name]}/index.html") as v:
        box = v.page.locator(f".course-control[data-control={name}]")
        assert box.get_attribute("data-ready") == "yes"
        assert box.locator("svg[role=img]").first.get_attribute("aria-label")
        inputs = box.locator("input[type=range], select")
        still = []
        for i in range(inputs.count()):
            one = inputs.nth(i)
            assert one.evaluate("e => e.labels.length") == 1
            before = box.evaluate(SHOWN)
            one.focus()
            for key in ("ArrowDown", "ArrowUp", "ArrowUp", "End", "Home"):
                v.page.keyboard.press(key)
                if box.evaluate(SHOWN) != before:
                    break
            else:
                still.append(one.evaluate("e => e.labels[0].innerText"))
        # a schedule of one seed has no other to choose
        assert [s for s in still if s not in ("种子", "Seed")] == [] and v.errors == []


def test_the_ring_shows_the_race_where_it_happens_and_leads_to_the_line(site, lang):
    with Visit(site, f"{lang}/lesson06_smem_pipeline/index.html") as v:
        box = v.page.locator("[data-control=ring]")
        assert box.locator(".bar.red").count() == 0
        box.locator("select").first.select_option("empty_before_wgmma_wait")
        run = _data("ring")["runs"]["3/empty_before_wgmma_wait/timed/0"]
        assert box.locator(".bar.red").count() == sum(r[5] for r in run["rows"]) > 0
        assert run["report"] in box.locator(".race-report").inner_text().replace("\n", " ")
        box.locator(".race-report a").first.click()
        v.page.wait_for_url(f"**/{lang}/kernels/ring_pipeline_cu.html#L*")
        line = v.page.locator(":target")
        assert "tma_load_2d" in line.inner_text()


def test_a_barrier_is_stepped_event_by_event(site, lang):
    with Visit(site, f"{lang}/lesson03_async_barriers/index.html") as v:
        box = v.page.locator("[data-control=barrier]")
        run = _data("barrier")["runs"]["7/1024"]
        assert box.locator("tbody tr").count() == len(run["events"])
        step = box.locator(".control-player button").nth(2)
        for n in range(1, 4):
            step.focus()
            v.page.keyboard.press("Enter")
            assert box.locator("tr[aria-current=step] td").first.inner_text() == str(n + 1)
        barrier, _, _, _, _, _, after, _ = run["events"][3]
        assert (
            barrier in box.locator(".control-text").inner_text()
            and f"tx {after[1]}" in box.locator(".control-text").inner_text()
        )


def test_the_roofline_takes_a_point_of_ones_own(site, lang):
    with Visit(site, f"{lang}/lesson01_roofline/index.html") as v:
        box = v.page.locator("[data-control=roofline]")
        own = box.locator("input[type=number]")
        own.nth(0).fill("4")
        own.nth(1).fill("8.5")
        share = 100 * 8.5 / (4 * round(_data("roofline")["bandwidth"], 2))  # as the slider shows it
        assert f"{share:.3g} %" in box.locator(".control-text").inner_text()


def test_the_home_page_shows_ring_ladder_and_cards_in_one_screen(site, lang):
    with Visit(site, f"{lang}/index.html", width=1440, reduced_motion="reduce") as v:
        ring = v.page.locator("[data-control=home-ring]")
        assert ring.locator(".ring-stage").count() == 3 and ring.locator(".bar.red").count() == 0
        switch = ring.locator("[role=switch]")
        switch.focus()
        v.page.keyboard.press("Space")
        assert switch.get_attribute("aria-checked") == "true" and ring.locator(".bar.red").count() > 0
        assert _data("home-ring")["race"]["report"][:60] in ring.locator(".race-report").inner_text()
        assert v.page.locator(".ladder li").count() == len(_data("home-ladder")["rungs"])
        assert v.page.locator(".cards li").count() == len(list_lessons())
        assert v.page.locator(".ladder").bounding_box()["y"] + v.page.locator(".ladder").bounding_box()["height"] < 900


def test_the_ring_of_the_home_page_moves_and_can_be_stopped(site):
    with Visit(site, "en/index.html", reduced_motion="no-preference", bypass_csp=True) as v:
        now = "document.querySelector('[data-control=home-ring] .now-line').getAttribute('x1')"
        first = v.page.evaluate(now)
        v.page.wait_for_function(f"{now} !== '{first}'")
        v.page.locator("[data-control=home-ring] .control-player button").nth(1).click()
        v.page.wait_for_timeout(100)
        stopped = v.page.evaluate(now)
        v.page.wait_for_timeout(300)
        assert v.page.evaluate(now) == stopped


def test_a_lessons_head_leads_to_what_it_needs(site, built_site, lang):
    with Visit(site, f"{lang}/lesson06_smem_pipeline/index.html") as v:
        head = v.page.locator(".lesson-head")
        needs = head.locator('a[href*="lesson0"]:not([download])')
        assert [h.split("/")[1] for h in needs.evaluate_all("a => a.map(x => x.getAttribute('href'))")] == [
            "lesson03_async_barriers", "lesson04_bulk_copy", "lesson05_wgmma",
        ]  # fmt: skip
        notebook = head.locator("a[download]").first.get_attribute("href")
        cells = json.loads((built_site / lang / "lesson06_smem_pipeline" / notebook).read_text(encoding="utf-8"))[
            "cells"
        ]
        assert any("______" in "".join(c["source"]) for c in cells)
        head.locator('a[href*="ring_pipeline"]').click()
        v.page.wait_for_url(f"**/{lang}/kernels/ring_pipeline_cu.html")


def test_what_a_reader_did_stands_on_the_card(site):
    with Visit(site, "en/index.html") as v:
        done = "{exercise: 'ready', boundary: 'tried', answers: [true, true, false, false]}"
        v.page.evaluate(f"courseProgress.write('lesson03_async_barriers', {done})")
        v.page.reload()
        shown = v.page.locator(".lesson-progress:visible")
        assert shown.count() == 1 and "answers 2 of 4" in shown.get_attribute("title")


def test_the_head_of_a_lesson_follows_what_is_done_in_its_page(site):
    """Without a reload: the page that writes and the head that shows have one store."""
    with Visit(site, "en/lesson03_async_barriers/index.html") as v:
        assert v.page.locator('script[src$="do/progress.js"]').count() == 1
        v.page.evaluate("courseProgress.write('lesson03_async_barriers', {exercise: 'tried'})")
        shown = v.page.locator(".lesson-head .lesson-progress:visible")
        assert shown.count() == 1 and "exercise tried" in shown.get_attribute("title")


@pytest.mark.parametrize("lang,word,entry", [("zh", "相位", "term-相位位"), ("en", "mbarrier", "term-mbarrier")])
def test_search_gives_the_glossary_first_and_questions_last(site, lang, word, entry):
    with Visit(site, f"{lang}/index.html") as v:
        v.page.fill(".course-search input", word)
        hits = v.page.locator(".search-result")
        hits.first.wait_for()
        assert hits.first.get_attribute("href").endswith(f"glossary/index.html#{entry}")
        texts = hits.locator(".hit-text").all_inner_texts()
        assert not any("\\(" in t or "flowchart" in t for t in texts)
        v.page.keyboard.press("ArrowDown")
        v.page.keyboard.press("Enter")
        v.page.wait_for_url("**/glossary/index.html#*")


def test_search_works_from_a_file(built_site, site):
    with Visit(site, "zh/index.html") as v:
        v.page.goto((built_site / "zh" / "lesson06_smem_pipeline" / "index.html").as_uri())
        v.page.fill(".course-search input", "释放过早")
        v.page.wait_for_selector(".search-result, .hit-none")
        v.page.fill(".course-search input", "累加器")
        v.page.locator('.search-result[href*="glossary"]').first.wait_for()
        assert v.page.locator("[data-control=ring]").get_attribute("data-ready") == "yes"


def test_a_figure_tells_where_it_comes_from_and_leads_to_the_ledger(site, lang):
    with Visit(site, f"{lang}/lesson06_smem_pipeline/index.html") as v:
        v.page.locator('.claim[data-claim="lesson06.rate_1"]').first.focus()
        tip = v.page.locator("#course-tip")
        tip.wait_for()
        text = tip.inner_text()
        assert "lesson06_stages.json" in text and "NVIDIA H200" in text and "2026-11-29" in text
        v.page.keyboard.press("Enter")
        v.page.keyboard.press("Enter")
        v.page.wait_for_url("**/claims/index.html#claim-lesson06-rate_1")
        assert v.page.locator("tr:target").is_visible()
        v.page.locator("tr:target a").first.click()
        v.page.wait_for_url(f"**/{lang}/lesson06_smem_pipeline/index.html#use-lesson06-rate_1")


def test_a_term_shows_its_entry_and_leads_there(site, lang):
    with Visit(site, f"{lang}/lesson06_smem_pipeline/index.html") as v:
        term = v.page.locator("main a.term").first
        term.focus()
        v.page.wait_for_selector("#course-tip:visible")
        assert len(v.page.locator("#course-tip").inner_text()) > 10
        v.page.keyboard.press("Escape")
        assert not v.page.locator("#course-tip").is_visible()
        term.click()
        v.page.wait_for_url("**/glossary/index.html#term-*")
        assert v.page.locator("li:target").count() == 1


def test_the_ledger_is_filtered(site, lang):
    with Visit(site, f"{lang}/claims/index.html") as v:
        rows = v.page.locator("tr[data-origin]")
        claims = json.loads(v.page.evaluate("Course.load('claims').then(c => JSON.stringify(c))"))
        assert rows.count() == len(claims)
        v.page.locator(".ledger-filter select").nth(1).select_option("read")
        visible = v.page.locator("tr[data-origin]:visible")
        assert visible.count() == sum(c["kind"] == "read" for c in claims.values()) > 0
        v.page.fill(".ledger-filter input", "datasheet")
        assert 0 < visible.count() < rows.count() and "datasheet" in visible.first.inner_text()
