"""What a list of brains says of each. The package's own files are read, not imported: a list needs no library."""

import ast
import importlib.util
import inspect
from dataclasses import dataclass
from pathlib import Path

from nematodebench.brains.declared import built_in_modules, offered_brains

__all__ = ["Summary", "list_summaries"]


@dataclass(frozen=True)
class Summary:
    """One line of a list of brains."""

    name: str
    kind: str
    path: str
    what: str


def list_summaries() -> list[Summary]:
    """What every brain of this package, and every brain that another package offers, is."""
    built_in = built_in_modules()
    return [
        _read(name, built_in[name]) if name in built_in else _summary_of(name)
        for name in sorted({*built_in, *offered_brains()})
    ]


def _summary_of(name: str) -> Summary:
    """What a brain of another package is; one whose library is not installed says so."""
    from nematodebench.brains.registry import class_of, get_brain, is_compiled
    from nematodebench.errors import UsageError

    try:
        brain = get_brain(name)
    except (ImportError, UsageError) as error:
        return Summary(name, "-", "-", f"not installed: {error}")
    what = (inspect.getdoc(brain) or "").split("\n")[0]
    return Summary(name, class_of(brain), "compiled" if is_compiled(brain) else "Python", what)


def _read(name: str, module: str) -> Summary:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _constants(node).get("name") == name:
            what = (ast.get_docstring(node) or "").split("\n")[0]
            return Summary(name, _constants(node).get("kind", "classical"), _path(node), what)
    raise AssertionError(f"{module} declares {name!r} in a way that cannot be read")


def _path(node: ast.ClassDef) -> str:
    """A compiled brain is a subclass of one; a Python brain needs no base."""
    return "compiled" if node.bases else "Python"


def _constants(node: ast.ClassDef) -> dict[str, str]:
    """Names in a class that are given a word."""
    found: dict[str, str] = {}
    for line in node.body:
        targets = (
            line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
        )
        value = getattr(line, "value", None)
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            for one, word in zip(names, values, strict=False):
                if isinstance(one, ast.Name) and isinstance(word, ast.Constant) and isinstance(word.value, str):
                    found[one.id] = word.value
    return found
