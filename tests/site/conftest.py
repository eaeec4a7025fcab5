"""Sites made once, a real Chromium, and a local server of a folder."""

import functools
import http.server
import threading
from dataclasses import asdict

import pytest
from site_entries import ROOT, entries

import nematodebench as nb
from nematodebench.board.collect import Collection, signed
from nematodebench.cli.printing import json_text
from nematodebench.continual.report import summarise
from nematodebench.continual.runs import Settings, run_continual
from nematodebench.figures.sources import open_sources
from nematodebench.site.board_site import build_site
from nematodebench.site.private_site import build_private_site
from nematodebench.site.report import html_report


@pytest.fixture(scope="session")
def sessions(tmp_path_factory):
    root = tmp_path_factory.mktemp("experiments")
    for brain in ("q_table", "null_random"):
        nb.run("foraging_small-v2", brain, runs=3, episodes=30, seed=3).save(root)
    return root


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A site of made entries, some with hostile names."""
    root = tmp_path_factory.mktemp("site")
    found = Collection(listings={one.entry.id: one for one in entries(150)})
    for name, content in build_site(tmp_path_factory.mktemp("empty"), found).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


@pytest.fixture(scope="session")
def report(sessions, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_report(open_sources([sessions])), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def lab(sessions, tmp_path_factory):
    """The private board of some sessions."""
    root = tmp_path_factory.mktemp("lab")
    for name, content in build_private_site(open_sources([sessions]), "lab").items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


@pytest.fixture(scope="session")
def replays(tmp_path_factory):
    """A report of an official session, which a page can execute again."""
    root = tmp_path_factory.mktemp("official")
    nb.run("association-v2", "q_table", runs=2, seed=5).save(root)
    path = root / "report.html"
    path.write_text(html_report(open_sources([root])), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def verified_site(tmp_path_factory):
    """The site of one published entry, with its claimed runs and the verifier's; returns the site and its page."""
    root = tmp_path_factory.mktemp("verified")
    found = signed(ROOT).listings
    chosen = next(
        id_ for id_, one in found.items() if (one.entry.brain, one.entry.task) == ("q_table", "association-v2")
    )
    for name, content in build_site(ROOT, Collection(listings={chosen: found[chosen]})).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root, root / "submissions" / f"{chosen}.html"


@pytest.fixture(scope="session")
def continual(tmp_path_factory):
    """A report of a short continual run, from the file that the command writes."""
    settings = Settings(order=("association", "gridworld"), episodes={"association": 4, "gridworld": 3},
                        probe_episodes=2, runs=2, seed=5, alone=False)  # fmt: skip
    file = tmp_path_factory.mktemp("continual") / "report.json"
    content = {"profile": "calibrated", **asdict(summarise(run_continual("q_table", None, settings)))}
    file.write_text(json_text(content), encoding="utf-8")
    page = file.with_suffix(".html")
    page.write_text(html_report(open_sources([file])), encoding="utf-8")
    return page


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Serves all that the fixtures made; gives the address of a file."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    root = tmp_path_factory.getbasetemp()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root)) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield lambda path: f"http://127.0.0.1:{made.server_port}/{path.relative_to(root)}"
        made.shutdown()


@pytest.fixture(scope="session")
def server(site, address):
    """The address of the site of made entries."""
    return address(site)


@pytest.fixture
def page(chromium):
    """A page that fails the test if anything was written to the console or asked of another machine."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append("a dialog opened"), dialog.dismiss()))
    here = ("file:", "data:", "blob:", "http://127.0.0.1:")
    page.on("request", lambda asked: None if asked.url.startswith(here) else wrong.append(asked.url))
    yield page
    context.close()
    assert wrong == []
