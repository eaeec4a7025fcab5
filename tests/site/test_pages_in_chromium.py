"""The pages in a real Chromium, from the file system and from a local server."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from site_entries import HOSTILE

WEB = Path(__file__).resolve().parents[2] / "web"
KINDS = ("index.html", "play.html", "tasks.html", "brains.html", "history.html", "tasks/foraging_small-v2.html",
         "brains/brain_0000.html", "submissions/entry_0003.html")  # fmt: skip


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core, in the version that web/package.json names."""
    here = WEB / "node_modules/axe-core/axe.min.js"
    if here.is_file():
        return here
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    version = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["devDependencies"]["axe-core"]
    words = ["npm", "install", "--silent", "--no-save", "--prefix", str(folder), f"axe-core@{version}"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot install axe-core here")
    return folder / "node_modules/axe-core/axe.min.js"


CUT_OFF = """() => [...document.querySelectorAll('.scroll:not(details *):has(table:not(#efficiency, #sessions))')]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
"""Tables that have to be seen whole; costs have eight columns, hashes and commands no place to break."""


def visible(page, column=1):
    rows = page.locator("#leaderboard tbody[data-task='foraging_small-v2'] tr[id]:not([hidden])")
    return [row.locator("td, th").nth(column).inner_text() for row in rows.all()]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_every_kind_of_page_opens_from_a_file_and_fits_a_phone_and_a_screen(site, page, name, width):
    page.set_viewport_size({"width": width, "height": 740})
    page.goto((site / name).as_uri())
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width > 360:  # a phone breaks names anywhere; elsewhere one as long as these makes its table wider
        page.evaluate("""() => [...document.querySelectorAll('tr')].filter((row) => row.textContent.includes('<img'))
          .forEach((row) => row.remove())""")
    assert page.evaluate(CUT_OFF) == []


def test_the_report_opens_from_a_file(report, page):
    page.goto(report.as_uri())
    assert page.locator("svg.figure").count() >= 4
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(CUT_OFF) == []


def test_the_private_board_fits_a_phone(lab, page):
    page.set_viewport_size({"width": 360, "height": 740})
    for name in ("index.html", "tasks/foraging_small-v2.html"):
        page.goto((lab / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate(CUT_OFF) == []


def show_all(page):
    page.get_by_role("button", name="Show all 25 of foraging_small-v2").click()


def test_sorting_and_its_permalink(server, page):
    page.goto(f"{server}/index.html")
    page.get_by_role("button", name="Score", exact=True).click()
    down = [float(text.split()[0]) for text in visible(page, 4)]
    assert down == sorted(down, reverse=True) and len(set(down)) > 10
    assert "sort=score" in page.url and "dir=down" in page.url
    show_all(page)
    order = visible(page)
    page.goto("about:blank")
    page.goto(f"{server}/index.html#sort=brain&dir=down")
    show_all(page)
    assert visible(page) == sorted(visible(page), key=str.lower, reverse=True)
    assert sorted(visible(page)) == sorted(order)


def test_filtering_and_its_permalink(site, page):
    address = (site / "index.html").as_uri()
    page.goto(address)
    page.get_by_label("Search").fill("brain_0012")
    assert page.locator("output[name=count]").inner_text() == "1 entry"
    assert page.locator("#leaderboard tr[id]:not([hidden])").count() == 1
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    assert page.get_by_label("Search").input_value() == "brain_0012"
    assert page.locator("output[name=count]").inner_text() == "1 entry"


def test_entries_behind_the_first_are_sorted_found_and_shown(site, page):
    """A long board has its first entries as rows and the others as data; readers see no difference."""
    address = (site / "index.html").as_uri()
    page.goto(address)
    assert page.locator("output[name=count]").inner_text() == "150 entries"
    assert len(visible(page)) == 20
    every = page.evaluate(REST)
    assert len(every) == 5 and not set(every) & set(visible(page))
    page.get_by_label("Search").fill(every[0])
    assert visible(page) == [every[0]]
    page.get_by_label("Search").fill("")
    show_all(page)
    scores = [float(text.split()[0]) for text in visible(page, 4)]
    assert len(scores) == 25 and scores == sorted(scores, reverse=True)
    row = page.locator("#leaderboard tr", has_text=every[1])
    assert row.locator("td, th").count() == 10 and row.get_by_role("link").get_attribute("href").endswith(".html")
    page.goto("about:blank")
    page.goto(f"{address}#sort=score")
    assert len(visible(page)) == 20 and set(every) <= set(visible(page))


def test_an_entry_behind_the_first_has_a_permalink(site, page):
    page.goto((site / "index.html").as_uri())
    last = page.evaluate("JSON.parse(document.querySelector('script[data-rest]').textContent).at(-1).id")
    page.goto("about:blank")
    page.goto(f"{(site / 'index.html').as_uri()}#{last}")
    page.locator(f"tr#{last}").wait_for()


REST = """() => JSON.parse(document.querySelector("tbody[data-task='foraging_small-v2'] script").textContent)
  .map((one) => one.brain)"""


def test_the_board_as_of_a_day(site, page):
    page.goto((site / "history.html").as_uri() + "#date=2026-11-02")
    assert page.locator("section.day:not([hidden])").get_attribute("data-day") == "2026-11-02"


def test_downloads(report, server, page):
    page.goto(report.as_uri())
    for name, ending in (("CSV", ".csv"), ("JSON", ".json"), ("SVG", ".svg")):
        with page.expect_download() as waiting:
            page.locator("figure.plot").first.get_by_role("button", name=f"as {name}").click()
        assert waiting.value.suggested_filename.endswith(ending)
        assert Path(waiting.value.path()).stat().st_size > 100
    page.goto(f"{server}/index.html")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    assert b"brain_0000" in Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize(("form", "text"), [("CSV", "brain_0000"), ("JSON", '"brain": "brain_0000'), ("SVG", "<svg")])
def test_files_beside_a_page_are_saved_from_the_file_system_too(site, page, form, text):
    page.goto((site / "index.html").as_uri())
    with page.expect_download() as waiting:
        page.locator(".downloads").get_by_role("link", name=form).click()
    name = f"board.{form.lower()}"
    assert waiting.value.suggested_filename == name
    saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text in saved and saved in [path.read_text(encoding="utf-8") for path in site.rglob(name)]


def test_a_table_is_saved_as_the_picture_that_is_seen(site, page):
    page.goto((site / "tasks/foraging_small-v2.html").as_uri())
    with page.expect_download() as waiting:
        page.get_by_role("button", name="entries as SVG").click()
    saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    picture = ElementTree.fromstring(saved)
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    names = page.locator("#entries tbody th").all_inner_texts()
    assert names and set(names) <= set(texts)
    marks = page.locator("#entries .axis s").count()
    assert sum(one.get("rx") == "4" for one in picture.iter()) == marks


def test_a_run_of_a_report_is_executed_again_in_the_page(replays, page):
    page.goto(replays.as_uri())
    page.get_by_role("button", name="Execute this run again here").click()
    page.get_by_text("IDENTICAL").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Watch the best").click()
    page.locator("nb-viewer canvas").first.wait_for(timeout=60_000)


def executed(page):
    page.get_by_role("button", name="again here").click()
    page.locator("nb-run .nb-good, nb-run .nb-bad").wait_for(timeout=60_000)
    return page.locator("nb-run").inner_text()


def test_fresh_and_claimed_runs_are_offered_and_both_are_identical(verified_site, page):
    page.goto(verified_site[1].as_uri())
    kinds = page.locator("select[name=session] optgroup").evaluate_all("all => all.map(one => one.dataset.kind)")
    assert kinds == ["fresh", "claimed"]
    assert "Execute fresh run" in page.locator("nb-run").inner_text()
    assert "IDENTICAL" in executed(page)
    claimed = page.locator("optgroup[data-kind=claimed] option").first.inner_text()
    page.select_option("select[name=session]", claimed)
    page.fill("input[name=run]", "7")
    page.locator("input[name=run]").blur()
    assert "Execute claimed run 7" in page.locator("nb-run").inner_text() and f"session={claimed}" in page.url
    assert "IDENTICAL" in executed(page)


ALTERED = """() => {
  const hashes = Object.values(nbRuns)[0];
  for (const runs of Object.values(hashes)) for (const run of runs) run[0] = "0".repeat(64);
}"""


def test_a_record_that_was_altered_is_found_out(verified_site, page):
    """The page says where a claimed run parted: nowhere, here, because its episodes are the recorded ones."""
    page.goto(verified_site[1].as_uri())
    page.evaluate(ALTERED)
    page.select_option("select[name=session]", page.locator("optgroup[data-kind=fresh] option").nth(1).inner_text())
    assert "DIFFERENT. The episodes are not the recorded ones. Of this run only the hashes are kept" in executed(page)
    page.select_option("select[name=session]", page.locator("optgroup[data-kind=claimed] option").first.inner_text())
    assert "the recorded hash belongs to another run" in executed(page)


def test_a_button_beside_an_entry_executes_its_best_run_and_shows_it(verified_site, page):
    asked = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto((verified_site[0] / "index.html").as_uri())
    button = page.get_by_role("button", name="Execute the best run of q_table on association-v2")
    assert not [url for url in asked if "/cases/" in url or url.endswith(("run.js", "nb-relaxed.js", "nb-exact.js"))]
    button.click()
    page.get_by_text("IDENTICAL. Record").wait_for(timeout=60_000)
    page.locator("tr.replay nb-viewer .nb-gauges b").first.wait_for(timeout=60_000)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.locator("tr.replay nb-viewer").bounding_box()["width"] <= 360
    assert "#replay=" in page.url
    page.get_by_role("button", name="Score", exact=True).click()
    assert "replay" not in page.url
    assert page.locator("tr.replay").count() == 0 and button.get_attribute("aria-expanded") == "false"


def test_an_opened_run_has_a_permalink(verified_site, page):
    page.goto((verified_site[0] / "index.html").as_uri())
    page.get_by_role("button", name="Execute the best run of q_table on association-v2").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.get_by_text("IDENTICAL. Record").wait_for(timeout=60_000)
    assert page.locator("tr.replay").count() == 1 and page.url == address


def test_a_run_has_a_permalink(verified_site, page):
    page.goto(verified_site[1].as_uri())
    fresh = page.locator("optgroup[data-kind=fresh] option").nth(1).inner_text()
    page.goto("about:blank")
    page.goto(f"{verified_site[1].as_uri()}#session={fresh}&run=11")
    assert page.locator("nb-run").get_attribute("session") == fresh
    assert "Execute fresh run 11 again here" in page.locator("nb-run").inner_text()


def test_pages_of_a_published_entry(verified_site, page):
    root = verified_site[0]
    page.goto((root / "tasks/association-v2.html").as_uri())
    picture = page.locator("figure.picture img")
    assert picture.evaluate("one => one.complete && one.naturalWidth > 0") and picture.get_attribute("alt")
    page.goto((root / "brains/q_table.html").as_uri())
    assert page.locator("#efficiency tbody tr").count() == 1
    assert page.locator("#efficiency tbody td").nth(5).inner_text().endswith(" ms")
    assert page.get_by_role("heading", name="Ablations").count() == 1
    assert page.locator("table[id^=ablations] tbody tr").count() >= 4


def test_a_continual_run_is_executed_again_and_watched(continual, page):
    page.goto(continual.as_uri())
    assert "IDENTICAL" in executed(page)
    page.get_by_role("button", name="Watch the best").click()
    page.locator("nb-viewer meter, nb-viewer .nb-gauges span").first.wait_for(timeout=60_000)
    phases = page.locator("nb-viewer select[aria-label=phase] option").all_inner_texts()
    assert phases[0] == "association" and "gridworld" in phases
    page.select_option("nb-viewer select[aria-label=phase]", "gridworld")
    page.get_by_text("q_table, episode 3").wait_for(timeout=60_000)
    page.locator("nb-viewer .nb-gauges span", has_text="bumps").first.wait_for(timeout=60_000)


def test_the_keyboard_alone_sorts_the_board(site, page):
    page.goto((site / "index.html").as_uri())
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Claimed":
            break
    page.keyboard.press("Enter")
    assert page.locator("th[data-sort=claimed]").get_attribute("aria-sort") == "descending"


def test_texts_of_submissions_stay_text(site, page):
    for name in ("index.html", "submissions/entry_0003.html", "history.html"):
        page.goto((site / name).as_uri())
        assert HOSTILE in page.locator("main").inner_text()
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("script:not([src]):not([type])").count() == 0


def serious(page, axe):
    """What axe-core finds serious on a page, in both colour schemes."""
    page.add_script_tag(path=axe)
    wrong = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html]))")
        wrong += [one for one in found if one[0] in {"serious", "critical"}]
    return wrong


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing_serious(server, page, axe, name):
    page.goto(f"{server}/{name}")
    assert serious(page, axe) == []


def test_axe_finds_nothing_serious_where_runs_are_executed(verified_site, continual, replays, address, page, axe):
    root, entry = verified_site
    for place in (entry, root / "brains/q_table.html", root / "tasks/association-v2.html", replays, continual):
        page.goto(address(place))
        if place == entry:
            page.get_by_role("button", name="again here").click()
            page.get_by_text("IDENTICAL").first.wait_for(timeout=60_000)
            page.get_by_role("button", name="Watch the best").click()
            page.locator("nb-viewer .nb-gauges span").first.wait_for(timeout=60_000)
        assert serious(page, axe) == [], place


def test_the_private_board_executes_runs_again_and_shows_them(lab, page):
    page.goto((lab / "index.html").as_uri())
    page.get_by_role("button", name="Execute the best run of q_table on foraging_small-v2").click()
    page.get_by_text("IDENTICAL. Record").wait_for(timeout=60_000)
    page.locator("tr.replay nb-viewer .nb-gauges b").first.wait_for(timeout=60_000)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.get_by_text("IDENTICAL. Record").wait_for(timeout=60_000)
    page.goto((lab / "tasks/foraging_small-v2.html").as_uri())
    page.locator("input[name=run]").first.fill("1")
    page.locator("input[name=run]").first.blur()
    page.get_by_role("button", name="Execute run 1 again here").click()
    page.get_by_text("IDENTICAL").first.wait_for(timeout=60_000)


def test_the_private_board_and_its_pages(lab, address, page, axe):
    for name in ("index.html", "tasks/foraging_small-v2.html"):
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(address(lab / name))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert serious(page, axe) == []
