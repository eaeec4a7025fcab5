"""Imports classes of users by ``module:Class`` or ``path/to/file.py:Class``; what goes wrong is told in one line."""

import ast
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from nematodebench.engine.float_state import standard_floats
from nematodebench.errors import UsageError, missing_extra, near_names, said
from nematodebench.own_files import is_installed

__all__ = [
    "class_wanted", "import_class", "loaded", "meant", "meant_to_go_on", "refuse_while_importing", "warned",
    "written_by_user",
]  # fmt: skip

_IMPORTING: list[str] = []
"""What is being imported for somebody who wants a class of it."""
_GUARDED = "Put what the file does as a script below if __name__ == '__main__':."

_POLICIES = (".zip", ".onnx", ".pt", ".pth", ".ts", ".nir", ".h5")


def import_class(kind: str, name: str, what: str = "class") -> type[Any]:
    """The class of ``module:Class``, seen from the working folder, or of ``path/to/file.py:Class``.

    ``kind`` is the word for it in messages, and ``what`` says whether it is a class or a function.
    """
    place, _, class_name = name.rpartition(":")
    if place.endswith(".py") and not class_name:
        raise UsageError(class_wanted(place))
    if not place:
        raise UsageError(f"{kind} {name!r} names no file: write path/to/file.py{name} or module{name}.")
    if place.lower().endswith(".py") and Path(place).is_file() and not _can_be_imported(Path(place)):
        raise UsageError(
            f"{kind} {name!r} cannot be imported because of its name. Rename {Path(place).name}: letters, digits and "
            "_, then .py."
        )
    file = Path(place).absolute() if place.endswith(".py") else None
    if file is None and "/" in place and Path(f"{place}.py").is_file():
        raise UsageError(f"{kind} {name!r}: write {place}.py:{class_name}.")
    if file is None and (place.endswith(":") or Path(place).is_file()):
        raise UsageError(
            f"{kind} {name!r}: write path/to/file.py:{class_name or 'Name'} or module:{class_name or 'Name'}."
        )
    if file is not None and not file.is_file():
        raise UsageError(f"{kind} {name!r}: there is no file {place}.")
    module_name, folder = (file.stem, str(file.parent)) if file is not None else (place, str(Path.cwd()))
    if file is not None and module_name in sys.modules:  # before its folder can hide the other one from anybody
        if Path(getattr(sys.modules[module_name], "__file__", None) or "").resolve() != file.resolve():
            raise UsageError(f"{kind} {name!r}: there is another module called {module_name}. Rename the file.")
    elif folder not in sys.path:
        sys.path.insert(0, folder)
    module = _imported(kind, name, module_name)
    if not hasattr(module, class_name):
        fits = inspect.isclass if what == "class" else callable
        hint = near_names(class_name, [key for key, value in vars(module).items() if fits(value)])
        raise UsageError(f"{kind} {name!r}: module {module_name} has no {what} {class_name!r}.{hint and ' ' + hint}")
    return getattr(module, class_name)  # type: ignore[no-any-return]


def _can_be_imported(file: Path) -> bool:
    """Whether Python finds a file by its name: a point in it would be the end of a package's name."""
    return file.suffix == ".py" and "." not in file.stem


def loaded(load: Callable[[], Any]) -> Any:
    """Imports somebody else's code. How it has this thread compute, as by ``torch.set_flush_denormal``, is put back."""
    with standard_floats():
        return load()


def _imported(kind: str, name: str, module_name: str) -> Any:
    """Imports a user's module; what is wrong in it is told in one line with its place."""
    _IMPORTING.append(name)
    try:
        return loaded(lambda: importlib.import_module(module_name))
    except ModuleNotFoundError as error:
        own = error.name is not None and error.name.partition(".")[0] == module_name.partition(".")[0]
        needed = missing_extra(error) or "Install what it needs"
        hint = f"Run from the folder that holds {module_name}.py" if own else needed
        raise UsageError(f"{kind} {name!r}: {error}. {hint}.") from error
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{kind} {name!r} cannot be imported: {_told(error)}") from error
    finally:
        _IMPORTING.pop()


def refuse_while_importing(what: str) -> None:
    """Refuses what a script does while it is imported for its class: it would be done again in every process."""
    if _IMPORTING:
        raise UsageError(f"{_IMPORTING[-1]} {what} while it is imported. {_GUARDED}")


def _told(error: Exception | SystemExit) -> str:
    """What went wrong and the line where."""
    if isinstance(error, SyntaxError) and error.filename is None:
        return f"it is no Python source: {error.msg}"
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    place = written_by_user(error.__traceback__) or traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename}, line {place.lineno}"
    if isinstance(error, SystemExit):
        return f"{where} ends the program. {_GUARDED}"
    return f"{where}: {type(error).__name__}: {said(error)}"


def warned(message: Warning | str, file: str, line: int) -> str:
    """A warning in one line, with its place where that is in code of the user."""
    text = " ".join(str(message).split())
    return text if file.startswith("<") or is_installed(Path(file)) else f"{Path(file).name}, line {line}: {text}"


def written_by_user(trace: TracebackType | None) -> traceback.FrameSummary | None:
    """The last line that an error went through outside of this package and of what is installed."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if not frame.filename.startswith("<") and not is_installed(Path(frame.filename))]
    return own[-1] if own else None


def class_wanted(name: str) -> str:
    """What to write for a file without a class. The file is read, not executed."""
    if not Path(name).is_file():
        return f"There is no file {name}."
    try:
        tree = ast.parse(Path(name).read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        return f"{name} is no Python file: {error}."
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    written = " or ".join(f"{name}:{one}" for one in names[:3])
    return f"{name} is a file. Name the class in it: {written or f'{name}:Class'}."


def meant_to_go_on(name: str) -> str:
    """What to write for the file of a saved brain; empty for any other name."""
    return f"A saved brain goes on with: nematodebench run TASK --from {name}." * name.endswith(".safetensors")


def meant(name: str) -> str:
    """What to write for a name that is no brain's but looks like something else; empty where it does not."""
    if name.endswith(_POLICIES):
        return f"A policy that was trained elsewhere is scored: nematodebench score {name} --task TASK."
    if hint := meant_to_go_on(name):
        return hint
    if "," in name:
        return f"Several brains have spaces between them: {' '.join(part.strip() for part in name.split(','))}."
    place, _, last = name.replace("/", ".").rpartition(".")
    file = name[: len(place)].removesuffix(".py") + ".py"
    return f"Write {file}:{last}." if place and Path(file).is_file() else ""
