"""The site as files: same bytes for the same entries, small, and nothing that asks another machine."""

import gzip
import json
import math
import re
import threading
import urllib.error
import urllib.request
from dataclasses import replace

import pytest
from site_entries import HOSTILE, entries

from nematodebench.board.collect import Collection
from nematodebench.errors import UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.site import board_site
from nematodebench.site.badges import badge
from nematodebench.site.board_site import build_site
from nematodebench.site.brain_page import ABLATIONS, EFFICIENCY, ablation_tables, efficiency_row, measured_costs
from nematodebench.site.cells import interval, stat
from nematodebench.site.pages import script_json
from nematodebench.site.private_site import build_private_site
from nematodebench.site.report import html_report, report_csv, report_markdown
from nematodebench.site.server import server_of
from nematodebench.site.submission_page import submission_facts
from nematodebench.site.words import html_of
from nematodebench.stats import StatValue


def test_same_entries_same_bytes(tmp_path):
    made = [build_site(tmp_path, Collection(listings={o.entry.id: o for o in entries(6)})) for _ in range(2)]
    assert made[0] == made[1]


def test_same_sessions_same_report(sessions):
    assert html_report(open_sources([sessions])) == html_report(open_sources([sessions]))


def test_the_first_view_is_small(site):
    files = [site / "index.html", site / "assets/site.css", site / "assets/site.js"]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 300_000


def test_pages_of_a_very_long_board_stay_bounded_and_say_where_the_rest_is(tmp_path, monkeypatch):
    for name, most in (("_MOST_ON_FIRST", 30), ("_MOST_ON_PAGE", 40), ("_MOST_DAYS", 5)):
        monkeypatch.setattr(board_site, name, most)
    for count, sign in ((300, True), (60, False)):  # 50 and 10 entries a task, on 20 days
        found = Collection(listings={one.entry.id: one for one in entries(count)})
        pages = {path: content.decode() for path, content in build_site(tmp_path, found).items() if path[-4:] != ".png"}
        first, task, history = (pages[name] for name in ("index.html", "tasks/wall-v2.html", "history.html"))
        assert len(set(re.findall(r"entry_\d{4}(?=\.html)", first))) == (6 * 30 if sign else count)
        assert ("30 of 50 entries are here; the page of the task has more." in first) is sign
        assert len(set(re.findall(r"entry_\d{4}(?=\.html)", task))) == (40 if sign else 10)
        assert ("The first 40 of 50 entries." in task) is sign
        assert ("The last 40 of 300 entries." in history) is sign
        assert len(re.findall('class="day"', history)) == 5
        assert "The last 5 days with new entries are here." in history
        assert pages["data/board.csv"].count("\n") == count + 1
        assert sum(path.startswith("submissions/") for path in pages) == count


def test_no_page_names_another_machine(site, report):
    for path in [*site.rglob("*.html"), report]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text), path
        assert not re.search(r"url\((?!data:)", text), path


def test_every_link_leads_somewhere(site):
    for path in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', path.read_text(encoding="utf-8")):
            assert (path.parent / target).resolve().is_file(), (path, target)


def test_names_in_scripts_and_badges_stay_text():
    assert "<" not in str(script_json({"a": HOSTILE})) and json.loads(str(script_json({"a": HOSTILE})))["a"] == HOSTILE
    assert "<script" not in badge(("task", HOSTILE)) and "<img" not in badge((HOSTILE, "x"))


def test_docstrings_become_tables_and_stay_text():
    made = str(html_of(f"First `x`.\n\n| a | b |\n|---|---|\n| 1 | {HOSTILE} |\n\n    code <b>"))
    assert "<p>First <code>x</code>.</p>" in made and made.count("<tr>") == 2
    assert "<script" not in made and "<img" not in made and "code &lt;b&gt;" in made


def test_other_forms_of_a_report(sessions):
    sources = open_sources([sessions])
    assert report_csv(sources).count("\n") == 7
    assert "| q_table | 3 |" in report_markdown(sources) and "nematodebench rerun" in report_markdown(sources)


def test_a_private_board(sessions):
    files = build_private_site(open_sources([sessions]), "lab")
    assert b"Nothing here was verified" in files["index.html"] and "tasks/foraging_small-v2.html" in files


@pytest.fixture
def served(sessions):
    with server_of(sessions, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def answer(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as found:
            return found.status, found.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_serving_tells_progress_and_writes_nothing(served, sessions):
    before = {path: path.stat().st_mtime_ns for path in sessions.rglob("*")}
    status, content = answer(f"{served}/progress.json")
    assert status == 200 and {(one["state"], one["done"]) for one in json.loads(content)} == {("finished", 3)}
    name = json.loads(content)[0]["name"]
    assert answer(f"{served}/experiment/{name}")[0] == 200
    assert {path: path.stat().st_mtime_ns for path in sessions.rglob("*")} == before


def test_running_sessions_are_counted(served, sessions):
    folder = sessions / "running"
    (folder / "runs").mkdir(parents=True)
    (folder / "session.json").write_text(json.dumps({"session": {"runs": 5}}))
    (folder / "runs/00000.npz").write_bytes(b"")
    try:
        found = {one["name"]: one for one in json.loads(answer(f"{served}/progress.json")[1])}
        assert (found["running"]["done"], found["running"]["runs"]) == (1, 5)
    finally:
        for path in (folder / "runs/00000.npz", folder / "session.json"):
            path.unlink()
        (folder / "runs").rmdir()
        folder.rmdir()


@pytest.mark.parametrize("path", ["/../etc/passwd", "/experiment/../../etc/passwd", "/experiment/%2e%2e%2fx", "/no"])
def test_other_files_are_not_served(served, path):
    assert answer(served + path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:1", ""])
def test_requests_under_another_name_are_refused(served, host):
    assert answer(f"{served}/progress.json", Host=host)[0] == 403


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        server_of(tmp_path / "nowhere", 0)


def test_costs_and_ablations_of_a_repository(tmp_path):
    (tmp_path / EFFICIENCY).parent.mkdir(parents=True)
    (tmp_path / EFFICIENCY).write_text(json.dumps({"one": {"parameters": 5000.0, "activation_sparsity": 0.9}}))
    cells = efficiency_row(measured_costs(tmp_path)["one"], [])
    assert cells[0] == "5,000" and cells[3] == "90 %" and cells[1] == cells[-1] == "–"
    (tmp_path / ABLATIONS).mkdir()
    row = {"name": "gamma", "off": 0.0, "difference": -0.5, "ci95": [-0.6, -0.4], "p_holm": 0.001, "score": STAT}
    content = {"brain": "b", "task": "t", "runs": 20, "seed": 7, "full": STAT, "ablations": [row]}
    (tmp_path / ABLATIONS / "b.json").write_text(json.dumps(content))
    (tmp_path / ABLATIONS / "c.json").write_text("{")
    (tmp_path / ABLATIONS / "d.json").write_text(json.dumps({**content, "ablations": [{}]}))
    (found,) = ablation_tables(tmp_path, "b")
    zero, dot = found["lines"][0]["at"], found["rows"][0]["dot"]
    assert dot["left"] < dot["at"] < dot["left"] + dot["width"] < zero
    assert ablation_tables(tmp_path, "other") == []


STAT = {"mean": 0.8, "ci95": [0.7, 0.9]}


def test_what_cannot_be_read_is_not_shown(tmp_path):
    assert measured_costs(tmp_path) == {}
    (tmp_path / EFFICIENCY).parent.mkdir(parents=True)
    (tmp_path / EFFICIENCY).write_text("[1, 2")
    assert measured_costs(tmp_path) == {}


@pytest.mark.parametrize(
    ("half", "shown"),
    [(0.0123, "0.968 ± 0.012"), (0.0006, "0.968 ± 0.001"), (0.0002, "0.968 ± <0.001"), (1e-6, "0.968 ± <0.001")],
)
def test_pages_show_three_decimals_at_most(half, shown):
    assert interval(0.968, (0.968 - half, 0.968 + half)) == shown
    assert interval(0.968, (0.968 - half, 0.968 + half), "few runs") == f"{shown} (!)"
    value = StatValue(0.968, 0.1, 0.0, 1.0, 100, (0.968 - half, 0.968 + half))
    assert stat(value) == shown


def test_an_interval_of_no_width_stays_one_and_an_unknown_one_is_left_out():
    assert interval(0.5, (0.5, 0.5)) == "0.500 ± 0.000"
    assert interval(0.5, None) == interval(0.5, (math.nan, math.nan)) == "0.500"


def test_a_normalised_score_has_the_mark_that_the_score_has(tmp_path):
    (one,) = entries(1)
    norm = one.submission.normalised.model_copy(update={"doubt": "long tail"})
    marked = replace(one, submission=one.submission.model_copy(update={"normalised": norm}))
    page = build_site(tmp_path, Collection(listings={one.entry.id: marked}))["tasks/foraging_small-v2.html"].decode()
    cell = re.search(r'<td class="num wide quiet">(.*?)</td>', page)[1]
    assert re.fullmatch(r'<span class="hang">\d\.\d{3} ± \S+<i> \(!\)</i></span>', cell)


def test_the_page_of_an_entry_says_of_how_many_tries_it_is_one():
    (one,) = entries(1)
    assert "verified entries" not in dict(submission_facts(one, None)["facts"])
    assert dict(submission_facts(replace(one, tries=7), None)["facts"])["verified entries"].startswith("one of 7 ")
