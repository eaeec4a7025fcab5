"""The files that decide what code from outside does: its own, the modules it imports, and the files it names.

Modules count wherever they lie, as long as nobody installed them: those of libraries are told apart by their version.
Imports are read from the sources, so a module counts also if it is imported only when a run reaches that line. Data
count where a source or the config names them: weights that a brain loads decide its runs as much as its code does.
"""

import ast
import functools
import os
import re
import sys
import sysconfig
from collections.abc import Collection, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

__all__ = ["deciding_files", "imported_names", "is_installed", "own_files"]

_PACKAGE = Path(__file__).resolve().parent

_INSTALLED = {"site-packages", "dist-packages"}
_WRITES = ("save", "write", "to_", "dump", "FileHandler", "RotatingFileHandler", "mkdir", "unlink")
"""How calls begin that write: what a brain only leaves behind decides nothing."""
_IMPORTS = {"import_module", "__import__"}
"""Functions that import a module by its name."""
_SUFFIXES = (".py", *EXTENSION_SUFFIXES, ".pyc")
"""What the files of modules end with."""
_LONGEST_NAME = 300
_WRITING = re.compile(r"[wax][bt+]*")


def own_files(own: Path | None, config_text: str, loaded: bool = True) -> dict[str, Path]:
    """Every file that decides what a brain does, by its path from the brain's folder, or whole if it lies elsewhere.

    Args:
        own: The brain's file; None for a brain of this package, which has none of its own but what its config names.
        config_text: The text of the config, which may name files too, and functions in files.
        loaded: Whether all that was loaded from the brain's folder counts, which differs from process to process.
    """
    if own is not None and is_installed(own):
        return {own.name: own}
    folder = Path.cwd() if own is None else own.parent
    found = set() if own is None else deciding_files(own, _loaded_from(folder) if loaded else ())
    for name in _names_in_config(config_text):
        source = _source_of(name)
        found |= set(_there(name, folder)) if source is None else deciding_files(source)
    return {_called(path, folder): path for path in found}


def _source_of(name: str) -> Path | None:
    """The file of ``file.py:function`` or ``module:function``, unless it was installed; None for any other text."""
    place, colon, function = name.rpartition(":")
    if not colon or not function.isidentifier():
        return None
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    path = Path(file or ".").resolve()
    return path if path.suffix == ".py" and path.is_file() and not is_installed(path) else None


def deciding_files(own: Path, others: Collection[Path] = ()) -> set[Path]:
    """A file that nobody installed, all such modules that it imports, and the files that their sources name.

    Args:
        own: The file.
        others: Further modules that count.
    """
    modules = _imported_by({own, *others}, own)
    named = {name for path in modules for name in _names_in(path)}
    return modules | {path for name in named for path in _there(name, own.parent)}


def imported_names(files: dict[str, Path]) -> set[str]:
    """The first names of everything that modules import, like ``torch``."""
    return {name.partition(".")[0] for path in files.values() if path.suffix == ".py" for name in _imports(path)}


def _called(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def is_installed(path: Path) -> bool:
    """Whether a file belongs to a library, to Python, or to this package, whose sources have a hash of their own."""
    return bool(_INSTALLED & set(path.parts)) or any(path.is_relative_to(place) for place in _libraries())


@functools.cache
def _libraries() -> set[Path]:
    return {_PACKAGE, *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))}


def _loaded_from(folder: Path) -> set[Path]:
    """The modules of a folder that are loaded, however that came about."""
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    within = f"{folder}{os.sep}"
    files = {real for name in loaded if name and name.endswith(".py") and (real := _real(name)).startswith(within)}
    return {path for path in map(Path, files) if path.is_file() and not is_installed(path)}


@functools.cache
def _real(name: str) -> str:
    """Where a file lies. There are thousands of modules in a process that has loaded torch, and they stay there."""
    return os.path.realpath(name)


def _imported_by(files: set[Path], own: Path) -> set[Path]:
    """Files, and what these import, also in a line that is not yet reached."""
    found, waiting = set(files), list(files)
    while waiting:
        for name in _imports(path := waiting.pop()):
            there = {one for one in _places(name, path, own) if not is_installed(one)} - found
            found |= there
            waiting += there
    return found


def _places(name: str, path: Path, own: Path) -> set[Path]:
    """The files of a module, as a file imports it: ``.name`` lies in the file's own folder, ``..name`` above it."""
    within = name.lstrip(".")
    if level := len(name) - len(within):
        roots = [path.parents[min(level, len(path.parents)) - 1]]
    else:
        first = within.partition(".")[0]
        every = [own.parent, *(Path(place or ".").absolute() for place in sys.path)]
        roots = [root for root in every if (root / first).is_dir() or any(map(Path.is_file, _files(root / first)))][:1]
    places = [root.joinpath(*within.split(".")) for root in roots]
    files = {one for place in places for one in (*_files(place), *_files(place / "__init__"))}
    loaded = None if level else getattr(sys.modules.get(within), "__file__", None)
    if loaded and loaded.endswith(".py"):  # a finder of its own may have found it, as for packages in development
        files.add(Path(loaded))
    return {one.resolve() for one in files if one.is_file()}


def _files(place: Path) -> list[Path]:
    """Every file that may hold a module of this name."""
    return [place.with_name(f"{place.name}{suffix}") for suffix in _SUFFIXES]


def _imports(path: Path) -> set[str]:
    """Every module that a file imports by name, with the packages it lies in; none where the file cannot be read."""
    names = set[str]()
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            between = "" if base.endswith(".") or not base else "."
            names |= {base, *(f"{base}{between}{one.name}" for one in node.names if one.name != "*")}
        elif isinstance(node, ast.Call) and _called_name(node) in _IMPORTS:
            names |= {
                one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    return {part for name in names for part in _packages(name)}


def _packages(name: str) -> Iterator[str]:
    """``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``, with the dots that the name begins with."""
    within = name.lstrip(".")
    dots, words = name[: len(name) - len(within)], within.split(".")
    yield from (dots + ".".join(words[:count]) for count in range(1, len(words) + 1) if within)


def _parsed(path: Path) -> ast.AST:
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return ast.Module([], [])


def _names_in(path: Path) -> set[str]:
    """Every text of a source that may name a file, without those that are only written to."""
    found, waiting = set[str](), [_parsed(path)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and _writes(node):
            continue
        found.add(_text(node))
        waiting += ast.iter_child_nodes(node)
    return found - {""}


def _text(node: ast.AST) -> str:
    """The text of a node; of ``a / "b" / "c.npz"`` and ``join(a, "b", "c.npz")`` what is known: ``b/c.npz``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = [node.left, node.right]
    else:
        parts = list(node.args) if isinstance(node, ast.Call) else []
    return "/".join(text for part in parts if (text := _text(part) if not isinstance(part, ast.Call) else ""))


def _writes(call: ast.Call) -> bool:
    """Whether a call writes: by its name, or because it opens something for that."""
    name = _called_name(call)
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return name.startswith(_WRITES) or (name == "open" and any(_WRITING.fullmatch(mode) for mode in modes))


def _called_name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _names_in_config(text: str) -> set[str]:
    import yaml  # not needed by what only compiles

    try:
        waiting, found = [yaml.safe_load(text)], set[str]()
    except (yaml.YAMLError, ValueError, RecursionError):
        return set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.add(one)
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _there(name: str, folder: Path) -> list[Path]:
    """The files that a text names, seen from the brain's folder or from the current one; mostly there is none."""
    if len(name) > _LONGEST_NAME or "\n" in name or "\0" in name or "." not in name:
        return []
    try:
        found = {(place / name).resolve() for place in (folder, Path.cwd())}
        return [path for path in found if path.is_file() and not is_installed(path)]
    except (OSError, RuntimeError, ValueError):
        return []
