"""The documentation as a site: every page can be found, links work, and nothing is loaded from elsewhere."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from chromium import chromium, page  # noqa: F401

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("docs_site", ROOT / "scripts" / "docs_site.py")
docs_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs_site)


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without calling the functions that it names."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


def in_navigation(nav):
    for item in nav:
        target = next(iter(item.values())) if isinstance(item, dict) else item
        yield from in_navigation(target) if isinstance(target, list) else [target]


def test_every_page_is_in_the_navigation_once():
    """If not: give it a place under ``nav`` in mkdocs.yml."""
    found = list(in_navigation(docs_site.expanded(CONFIG["nav"], ROOT / "docs")))
    assert sorted(found) == sorted([*PAGES, *docs_site.ROOT_PAGES])


def test_a_folder_in_the_navigation_stands_for_its_pages(tmp_path):
    (tmp_path / "some").mkdir()
    for name in ("b.md", "README.md", "a.md", "picture.svg"):
        (tmp_path / "some" / name).touch()
    nav = [{"Home": "index.md"}, {"Group": [{"All": "some/"}, "last.md"]}]
    assert docs_site.expanded(nav, tmp_path) == [
        {"Home": "index.md"},
        {"Group": [{"All": ["some/README.md", "some/a.md", "some/b.md"]}, "last.md"]},
    ]


@pytest.mark.parametrize(
    ("name", "link", "there"),
    [
        ("tutorial.md", "../README.md", "index.md"),
        ("tutorial.md", "../CONTRIBUTING.md#a-world", "CONTRIBUTING.md#a-world"),
        ("nematodebench/LEADERBOARD.md", "../../benchmarks/a/b.json", "../repository/benchmarks/a/b.json"),
        ("nematodebench/OWN_BRAIN.md", "../tutorial.md", "../tutorial.md"),
        ("CONTRIBUTING.md", "docs/architecture.md", "architecture.md"),
        ("faq.md", "#anchors", "#anchors"),
        ("faq.md", "https://example.org/x", "https://example.org/x"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(name, link, there):
    assert docs_site.with_links_of_the_site(f"See [it]({link}).", name) == f"See [it]({there})."


def test_code_keeps_what_looks_like_a_link():
    code = "```python\nrows[0](../README.md)\n```\n"
    assert docs_site.with_links_of_the_site(code, "faq.md") == code


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def asked_for(text):
    """Addresses elsewhere that a browser would load by itself: links that a reader follows are none of them."""
    tags = re.findall(r"<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*>", text)
    values = [value for tag in tags for value in re.findall(r"(?:src|href|srcset|data)=[\"']?([^\"'\s>]+)", tag)]
    values += re.findall(r"url\([\"']?([^\"')]+)", text) + re.findall(r"@import\s+[\"']([^\"']+)", text)
    return [value for value in values if re.match(r"(?:https?:)?//", value)]


def test_what_a_browser_would_load_from_elsewhere_is_noticed():
    assert asked_for('<script src="https://a.org/x.js"></script>') == ["https://a.org/x.js"]
    assert asked_for("@import '//a.org/x.css'; b {background: url(http://a.org/y.png)}") == [
        "http://a.org/y.png", "//a.org/x.css",
    ]  # fmt: skip
    assert asked_for('<a href="https://a.org">there</a>') == []


@pytest.mark.slow
def test_the_site_is_built_and_no_page_asks_for_anything_elsewhere(site):
    assert len(list(site.rglob("*.html"))) > len(PAGES)
    found = {
        path.relative_to(site).as_posix(): wanted
        for path in site.rglob("*")
        if path.suffix in {".html", ".css"} and (wanted := asked_for(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.slow
def test_the_reference_shows_every_public_name(site):
    import nematodebench as nb

    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    modules = {"adapters", "callbacks", "scoring", "stats"}
    names = {name for name in nb.__all__ if name not in modules} | set(nb.scoring.__all__) | set(nb.stats.__all__)
    assert sorted(name for name in names if not re.search(rf'id="nematodebench\.[\w.]*\b{name}"', text)) == []


@pytest.mark.slow
def test_docstrings_show_no_markup_of_another_language(site):
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    assert re.findall(r":(?:func|class|meth|mod):.{0,40}", text) == []


@pytest.mark.slow
def test_a_reader_searches_and_copies_commands_from_the_file_system(site, page):  # noqa: F811
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto((site / "start.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("blind policy")
    page.wait_for_selector(".md-search-result__item a")
    page.keyboard.press("Escape")
    page.locator(".language-console button[data-clipboard-target]").nth(1).click(force=True)
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('nematodebench run'))")
    assert page.evaluate("navigator.clipboard.readText()").count("\n") == 0


@pytest.mark.slow
def test_pages_fit_a_phone(site, page):  # noqa: F811
    page.set_viewport_size({"width": 360, "height": 740})
    for name in ("index", "start", "concepts", "commands/run", "api/running", "nematodebench/LEADERBOARD"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
