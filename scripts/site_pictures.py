"""Writes docs/figures/site and docs/figures/browser: what the pages of the published entries look like in Chromium.

python scripts/site_pictures.py [--to DIR]

It needs Chromium and Playwright, as the tests of the pages do, and trains for half a minute.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nematodebench as nb
from nematodebench.board.collect import signed
from nematodebench.figures.kinds import figure_of
from nematodebench.figures.render import png
from nematodebench.figures.sources import open_sources
from nematodebench.site.board_site import build_site
from nematodebench.site.report import html_report

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "figures"
TASK, SEED = "foraging_small-v2", 77
BRAINS = ("mlp_ppo", "q_table", "null_random")
EXECUTED = "IDENTICAL. Record"
PATIENCE = 120_000
MOMENT = """() => {
  const viewer = document.querySelector("nb-viewer");
  viewer.pause();
  viewer.go(40);
}"""
"""Films are shown at the same moment."""


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _watched(page: Any) -> None:
    page.locator("nb-viewer .nb-gauges b").first.wait_for(timeout=PATIENCE)
    page.evaluate(MOMENT)
    page.wait_for_timeout(300)


class Camera:
    """Opens pages of a folder and takes pictures of them."""

    def __init__(self, browser: Any, folder: Path, to: Path) -> None:
        self.browser, self.folder, self.to = browser, folder, to

    def open(self, name: str, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        """A page of the folder."""
        page = self.browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        page.goto((self.folder / name).as_uri())
        return page

    def take(self, page: Any, name: str, **how: Any) -> None:
        """The picture of a page; then it is closed."""
        page.screenshot(path=self.to / name, **how)
        page.close()
        print(self.to / name)

    def board(self) -> None:
        """The leaderboard, with a run that is executed below its row, and on a phone."""
        page = self.open("index.html", height=1500)
        page.get_by_role("button", name=f"Execute the best run of mlp_ppo on {TASK}").click()
        page.get_by_text(EXECUTED).wait_for(timeout=PATIENCE)
        _watched(page)
        self.take(page, "site/board.png")
        self.take(self.open("index.html", 360, 740, "dark"), "site/phone.png")
        self.take(self.open("brains/mlp_ppo.html"), "site/brain.png")
        self.take(self.open("history.html"), "site/history.png")

    def task(self) -> None:
        """The page of a task."""
        self.take(self.open(f"tasks/{TASK}.html", height=1500), "site/task.png")

    def submission(self, entry: str) -> None:
        """The page of a submission after a run was executed, and the viewer with ghosts and the panel of the brain."""
        page = self.open(f"submissions/{entry}.html", height=1400)
        page.get_by_role("button", name="again here").click()
        page.get_by_text(EXECUTED).wait_for(timeout=PATIENCE)
        page.get_by_role("button", name="Watch the best").click()
        _watched(page)
        page.screenshot(path=self.to / "site/submission.png")
        for word in ("reference", "best blind policy"):
            page.get_by_label(f"ghost of the {word}").check()
        page.locator("nb-viewer summary").click()
        page.wait_for_timeout(2000)
        _watched(page)
        page.locator("nb-viewer").screenshot(path=self.to / "browser/viewer.png")
        page.close()

    def play(self) -> None:
        """Play after a training."""
        page = self.open("play.html", height=1100)
        page.get_by_role("button", name="Train").click()
        page.get_by_text("Trained in").wait_for(timeout=PATIENCE)
        page.screenshot(path=self.to / "site/play.png")
        page.locator("nb-play").screenshot(path=self.to / "browser/play.png")
        page.close()

    def report(self, sessions: Path) -> None:
        """A report in the dark, and one figure of it."""
        sources = open_sources([sessions])
        (self.folder / "report.html").write_text(html_report(sources), encoding="utf-8")
        self.take(self.open("report.html", height=1800, scheme="dark"), "site/report.png")
        (self.to / "site/curves.png").write_bytes(png(figure_of("curves", sources), 1.25))


def main() -> None:
    """Writes them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=FOLDER)
    to = parser.parse_args().to
    for name in ("site", "browser"):
        (to / name).mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    found = signed(ROOT)
    entry = next(id_ for id_, one in found.listings.items() if (one.entry.brain, one.entry.task) == ("mlp_ppo", TASK))
    options = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        _write(folder, build_site(ROOT, found))
        sessions = folder / "sessions"
        for brain in BRAINS:
            nb.run(TASK, brain, runs=10, seed=SEED).save(sessions)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        camera = Camera(browser, folder, to)
        camera.board()
        camera.task()
        camera.submission(entry)
        camera.play()
        camera.report(sessions)
        browser.close()


if __name__ == "__main__":
    main()
