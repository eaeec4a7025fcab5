"""Makes pages of templates: text is escaped, colours come from the palette, nothing is fetched from elsewhere."""

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from nematodebench.browser.modules import assignment
from nematodebench.figures.figure import Figure
from nematodebench.figures.render import page_svg
from nematodebench.figures.style import DARK, LIGHT, SERIES, SERIES_DARK

__all__ = ["beside", "need_libraries", "page_figure", "render", "script_json", "site_script", "style_sheet"]

_LIBRARIES = ("altair", "jinja2", "markupsafe", "vl_convert")


def need_libraries() -> None:
    """Says at once that a library is missing which pages are made with, and not when the work is done."""
    for name in _LIBRARIES:
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@cache
def _environment() -> Any:
    import jinja2

    loader = jinja2.FunctionLoader(lambda name: _read("templates", name))
    made = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["soft"] = _soft
    made.filters["hung"] = _hung
    return made


def _soft(name: str) -> Any:
    """A name that may be broken where its words end, so that it fits a phone; everything in it is text."""
    from markupsafe import Markup

    parts = re.split(r"(?<=[_.:/])(?=[^_.:/])", str(name))
    return Markup("<wbr>").join(parts)


def _hung(cell: Any) -> Any:
    """A number whose mark (!) hangs beside it, so that the digits of a column stand under each other."""
    from markupsafe import Markup

    text, mark, rest = str(cell).partition(" (!)")
    return Markup('<span class="hang">{}<i> (!)</i></span>').format(text) if mark and not rest else cell


def _read(folder: str, name: str) -> str:
    return (resources.files("nematodebench.site") / folder / name).read_text(encoding="utf-8")


def render(template: str, **content: Any) -> str:
    """A page."""
    made: str = _environment().get_template(template).render(**content)
    return made


def script_json(content: Any) -> Any:
    """Data for a script element: nothing in it can end the element."""
    from markupsafe import Markup

    text = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _variables(palette: Mapping[str, Any], series: tuple[str, ...]) -> str:
    named = {**palette["roles"], "background": palette["background"], "surface": palette["surface"],
             "rule": palette["hairline"], **{f"series-{k}": colour for k, colour in enumerate(series)}}  # fmt: skip
    return ";".join(f"--{name}:{colour}" for name, colour in named.items())


@cache
def style_sheet() -> str:
    """The style sheet of all pages, with the colours of light and dark."""
    light, dark = _variables(LIGHT, SERIES), _variables(DARK, SERIES_DARK)
    colours = f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    return colours + _read("assets", "site.css")


@cache
def site_script() -> str:
    """The script of all pages: sorting, filtering, permalinks, downloads."""
    return (resources.files("nematodebench.web") / "site.js").read_text(encoding="utf-8")


def beside(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files with a script beside each, which brings its text into a page that was opened from the file system.

    There a browser shows a file that is asked for instead of saving it, and lets no script read it.
    """
    scripts = {f"{path}.js": assignment("nbFiles", Path(path).name, text.decode()) for path, text in files.items()}
    return {**files, **{path: text.encode() for path, text in scripts.items()}}


def page_figure(figure: Figure, key: str, *, data: bool) -> dict[str, Any]:
    """What a template needs of a figure.

    Args:
        figure: The figure.
        key: Unique in its page.
        data: Whether the page carries the rows, for downloads from a single file.
    """
    from markupsafe import Markup

    names = list(figure.rows[0]) if figure.rows else []
    rows = {"columns": names, "rows": [[row[name] for name in names] for row in figure.rows]}
    return {
        "key": key, "kind": figure.kind, "title": figure.title, "caption": figure.caption,
        "svg": Markup(page_svg(figure, key)),
        "data": script_json(rows) if data else None,
    }  # fmt: skip
