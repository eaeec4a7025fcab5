"""The built modules as pages take them: compressed, in base64, inside a plain script, so that they work from file://."""

import base64
import gzip
import json
from typing import Any

from nematodebench.browser.sources import BUILT, VARIANTS

__all__ = ["assignment", "case_script", "module_script", "module_scripts", "run_script"]

_WEB = BUILT.parent.parent / "web"


def assignment(name: str, key: str, value: Any) -> str:
    """A script that puts a value into a table of the page. No text in it can end a script element."""
    place, text = (json.dumps(one, separators=(",", ":")).replace("<", "\\u003c") for one in (key, value))
    return f"(window.{name} ??= {{}})[{place}] = {text};\n"


def module_script(variant: str) -> str:
    """The script that brings a module (``relaxed`` or ``exact``): ``window.nbModules[variant]``."""
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    content = gzip.compress((BUILT / f"{variant}.wasm").read_bytes(), 9, mtime=0)
    value = {"data_end": manifest["data_end"][variant], "gzip": base64.b64encode(content).decode()}
    return assignment("nbModules", variant, value)


def module_scripts() -> dict[str, str]:
    """All of them by the names of their files, which ``run.js`` looks for beside itself: ``nb-relaxed.js``, ..."""
    return {f"nb-{variant}.js": module_script(variant) for variant in VARIANTS}


def case_script(name: str, case: dict[str, Any], tables: dict[str, str]) -> str:
    """The script that brings a case (``window.nbCases[name]``) with the tables it uses (``window.nbTables``)."""
    return assignment("nbCases", name, case) + "".join(assignment("nbTables", *one) for one in tables.items())


def run_script() -> str:
    """``run.js``: the elements that execute and show runs."""
    return (_WEB / "run.js").read_text(encoding="utf-8")
