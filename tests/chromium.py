"""Fixtures for pages in a real Chromium: the one that the system has, driven by Playwright.

A page that writes an error to its console, raises one, or asks for anything from another place fails its test.
"""

import os
import shutil
from collections import namedtuple
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
Seen = namedtuple("Seen", ["errors", "requests"])


def chromium_path():
    """Where the browser lies; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def listen(page):
    """Writes down what a page complains of, and what it asks for."""
    seen = Seen([], [])
    page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    return seen


def from_elsewhere(urls):
    """Requests that leave this machine."""
    here = {"", "localhost", "127.0.0.1"}
    return [url for url in urls if (urlsplit(url).hostname or "") not in here]


@pytest.fixture(scope="module")
def chromium():
    """A browser for the tests of one file. It ends with them, because Playwright holds the thread's event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="install playwright")
    path = chromium_path()
    if path is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    options = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A new page; what it complains of is in ``page.seen``, and must be empty at the end."""
    context = chromium.new_context()
    page = context.new_page()
    page.seen = listen(page)
    yield page
    context.close()
    assert page.seen.errors == []
    assert from_elsewhere(page.seen.requests) == []
