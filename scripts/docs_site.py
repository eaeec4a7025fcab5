"""What turns the repository's Markdown into a site; mkdocs calls these functions (``mkdocs.yml``, ``hooks``).

The pages are written for people who read them in the repository, so their links lead to files of the repository. On the
site a link to the README leads to its first page, documents beside the README become pages, and any other file that a
page links to is copied beside the pages.
"""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "docs"
ROOT_PAGES = ("BENCHMARKS.md", "CONTRIBUTING.md", "CHANGELOG.md")
_FENCES = re.compile(r"(^```.*?^```[ ]*$)", re.S | re.M)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):(?=<code>)")


def expanded(nav: list[Any], docs: Path) -> list[Any]:
    """The navigation, where a folder that is named stands for all its pages, the index first."""
    found: list[Any] = []
    for item in nav:
        title, target = next(iter(item.items())) if isinstance(item, dict) else (None, item)
        if isinstance(target, list):
            target = expanded(target, docs)
        elif target.endswith("/"):
            pages = sorted(
                docs.glob(f"{target}*.md"), key=lambda page: (page.stem not in {"README", "index"}, page.stem)
            )
            target = [page.relative_to(docs).as_posix() for page in pages]
        found.append(target if title is None else {title: target})
    return found


def place_on_site(path: str) -> str:
    """Where a file of the repository is on the site, as the pages see it."""
    if path == "README.md":
        return "index.md"
    if path in ROOT_PAGES:
        return path
    return path.removeprefix(f"{FOLDER}/") if path.startswith(f"{FOLDER}/") else f"repository/{path}"


def place_in_repository(page: str) -> str:
    """The file of the repository that a page of the site was made from."""
    return page if page in ROOT_PAGES else f"{FOLDER}/{page}"


def linked(markdown: str, page: str) -> list[str]:
    """Files of the repository, outside of the documentation, that a page links to."""
    targets = (_target(link, page) for _, link, _ in _LINK.findall(_FENCES.sub("", markdown)))
    return [path for path in targets if path and place_on_site(path).startswith("repository/")]


def with_links_of_the_site(markdown: str, page: str) -> str:
    """The page with links that work on the site; code is left as it is."""
    parts = _FENCES.split(markdown)
    parts[::2] = [_LINK.sub(lambda found: found[1] + _on_site(found[2], page) + found[3], part) for part in parts[::2]]
    return "".join(parts)


def _target(link: str, page: str) -> str | None:
    """The file of the repository that a link leads to; None if it leads elsewhere."""
    path = link.partition("#")[0]
    if not path or "://" in link or path.startswith(("/", "mailto:")):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(place_in_repository(page)), path))


def _on_site(link: str, page: str) -> str:
    target, place = _target(link, page), link.partition("#")[1:]
    if target is None:
        return link
    return os.path.relpath(place_on_site(target), posixpath.dirname(page) or ".") + "".join(place)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fills the folders of the navigation."""
    config.nav = expanded(config.nav or [], Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the documents beside the README, and the files that pages link to."""
    for name in ROOT_PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    pages = {page.src_uri: page.content_string for page in files.documentation_pages()}
    wanted = {path for name, text in pages.items() for path in linked(text, name)}
    for path in sorted(wanted):
        if (ROOT / path).is_file():
            asset = File.generated(config, f"repository/{path}", abs_src_path=str(ROOT / path))
            asset.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(asset)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links, and marks examples with a prompt as what they are."""
    return with_links_of_the_site(markdown.replace("```python\n>>>", "```pycon\n>>>"), page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Docstrings name things with roles like ``:func:``, which mean nothing here."""
    return _ROLE.sub("", html)
