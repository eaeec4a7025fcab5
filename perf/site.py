"""The board as a site in Chromium: what the first view weighs, when it is there, how long sorting and filtering take.

Two boards are opened, that of this repository's size and one of 2,000 entries. Needs Playwright and Chromium. Times are
from the first byte asked for until the table was painted; the page comes from a local server, as from GitHub Pages,
compressed. The last line is how long after a run has ended ``serve`` shows it.
"""

import functools
import gzip
import http.server
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nematodebench.board.collect import Collection
from nematodebench.browser.modules import module_scripts, run_script
from nematodebench.site.board_site import build_site
from nematodebench.site.server import server_of

SIZES = (40, 2000)
REPEATS = 7
MOST_BYTES, MOST_OPEN, MOST_WORK = 300_000, 1000.0, 100.0
"""What is wanted: bytes of the first view, milliseconds until it is painted, milliseconds of sorting and filtering."""
PAINTED = """() => new Promise((done) => {
  const told = () => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    const ready = performance.timing.loadEventEnd - performance.timing.navigationStart;
    if (paint && ready > 0) done(Math.max(paint.startTime, ready));
    else requestAnimationFrame(told);
  };
  told();
})"""
SHOWN = """(done) => document.querySelector("#experiments progress")?.value === done"""
TIMED = """([kind, value]) => new Promise((done) => {
  const began = performance.now();
  if (kind === "sort") document.querySelector(`th[data-sort=${value}] button`).click();
  else {
    const field = document.querySelector("#filters [name=q]");
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  document.body.getBoundingClientRect();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


def _entries(count: int) -> Any:
    """The entries that the tests use as well."""
    place = Path(__file__).parents[1] / "tests" / "site" / "site_entries.py"
    spec = importlib.util.spec_from_file_location("site_entries", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.entries(count)


class _Packed(http.server.SimpleHTTPRequestHandler):
    """Sends files compressed, as web servers do."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        content = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Requests are not told."""


@contextmanager
def _running(server: http.server.ThreadingHTTPServer) -> Iterator[str]:
    with server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _weight(folder: Path) -> int:
    """Compressed bytes of all that the first view asks for."""
    files = ("index.html", "assets/site.css", "assets/site.js")
    return sum(len(gzip.compress((folder / name).read_bytes())) for name in files)


def _board(browser: Any, count: int) -> bool:
    """Prints the figures of one board; returns whether all are within what is wanted."""
    with tempfile.TemporaryDirectory() as name:
        folder, listings = Path(name), {one.entry.id: one for one in _entries(count)}
        for place, content in build_site(folder, Collection(listings=listings)).items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(content)
        handler = functools.partial(_Packed, directory=str(folder))
        with _running(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)) as address:
            opened, work = [], {"sort": list[float](), "filter": list[float]()}
            for _ in range(REPEATS):
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                page.goto(f"{address}/index.html")
                opened.append(float(page.evaluate(PAINTED)))
                work["sort"] += [page.evaluate(TIMED, ["sort", key]) for key in ("score", "brain", "date")]
                work["filter"] += [page.evaluate(TIMED, ["filter", word]) for word in ("brain_00", "person 3", "")]
                page.context.close()
        weight = _weight(folder)
    figures = {"open": opened, **work}
    words = ", ".join(
        f"{key} {statistics.median(found):.0f} ms (worst {max(found):.0f})" for key, found in figures.items()
    )
    print(f"{count} entries: first view {weight / 1000:.1f} KB compressed; {words}", flush=True)
    fast = max(map(max, work.values())) <= MOST_WORK
    return weight <= MOST_BYTES and statistics.median(opened) <= MOST_OPEN and fast


def _modules() -> None:
    """Prints what a page loads when a run is asked for, and not before."""
    scripts = {"run.js": run_script(), **module_scripts()}
    sizes = ", ".join(f"{name} {len(gzip.compress(text.encode())) / 1000:.0f} KB" for name, text in scripts.items())
    print(f"asked for with the first run, compressed: {sizes}", flush=True)


def _serving(browser: Any) -> None:
    """Prints how long after a run's file is there the page of ``serve`` shows it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "experiments"
        runs = folder / "20260101_000000_00000001_000000" / "runs"
        runs.mkdir(parents=True)
        (runs.parent / "session.json").write_text(json.dumps({"session": {"runs": 100}}))
        lags = []
        with _running(server_of(folder, 0)) as address:
            page = browser.new_page()
            page.goto(address)
            for done in range(1, REPEATS + 1):
                time.sleep(0.37 * done % 1)  # at any moment between two questions of the page
                (runs / f"{done:05d}.npz").write_bytes(b"")
                began = time.monotonic()
                page.wait_for_function(SHOWN, arg=done, polling=20)
                lags.append(1000 * (time.monotonic() - began))
            page.close()
    print(f"serve: a run is shown after {statistics.median(lags):.0f} ms (worst {max(lags):.0f})")


def main() -> int:
    """Prints all figures; returns 1 if a board is too heavy or too slow."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        within = [_board(browser, count) for count in SIZES]
        _modules()
        _serving(browser)
        browser.close()
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
