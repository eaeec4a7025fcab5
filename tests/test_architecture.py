"""The shape of the package: who may import whom, who may print, how long things may be."""

import ast
import graphlib
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import nematodebench

ROOT = Path(nematodebench.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
MAX_MODULE, MAX_FUNCTION = 400, 70

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


def rooms_of(page):
    """Every room of the page's table with the rooms it builds on: it may import those and what they build on."""
    rows = re.findall(r"^\| `(\w+)/` \|[^|]+\|([^|]*)\|$", page, re.M)
    return {room: set(re.findall(r"`(\w+)/`", builds_on)) for room, builds_on in rows}


BUILDS_ON = rooms_of(PAGE.read_text(encoding="utf-8"))


@cache
def tree(module):
    return ast.parse((ROOT / module).read_text(), module)


def package_of(module):
    return module.split("/")[0] if "/" in module else ""


def allowed(package):
    """What a package builds on, directly or through others."""
    reached, waiting = set(), {package}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= BUILDS_ON[name] - reached
    return reached | {"errors"}


def imported(module):
    """Packages of ours that a module imports, wherever in the file it does."""
    here = ["nematodebench", *module.removesuffix(".py").split("/")]
    names = []
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [] if not node.level else here[: len(here) - node.level]
            base = ".".join([*start, *([node.module] if node.module else [])])
            names += [f"{base}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("nematodebench.")} & {*BUILDS_ON, "errors"}


def modules_imported(module):
    """Modules of ours that a module imports, wherever in the file it does."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("nematodebench."):
            base = node.module.removeprefix("nematodebench.").replace(".", "/")
            found |= {f"{base}.py", *(f"{base}/{alias.name}.py" for alias in node.names)} & set(MODULES)
    return found - {module}


def functions(module):
    return [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_every_package_has_its_place():
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert packages == set(BUILDS_ON)


def test_the_layers_have_no_circle():
    for package in BUILDS_ON:
        assert not any(package in allowed(other) for other in allowed(package) - {package, "errors"})


def test_imports_respect_the_layers():
    forbidden = {m: imported(m) - allowed(package_of(m)) for m in MODULES if package_of(m)}
    assert {module: names for module, names in forbidden.items() if names} == {}


def test_modules_do_not_import_each_other_in_a_circle():
    graphlib.TopologicalSorter({module: modules_imported(module) for module in MODULES}).prepare()


def prints(module):
    called = [node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    return any(isinstance(function, ast.Name) and function.id == "print" for function in called)


def test_nothing_is_printed_outside_the_command_line():
    assert {package_of(module) for module in MODULES if prints(module)} <= {"cli"}


def test_every_module_says_what_it_is():
    assert [module for module in MODULES if not ast.get_docstring(tree(module))] == []


def test_modules_are_short():
    lengths = {module: len((ROOT / module).read_text().splitlines()) for module in MODULES}
    assert {module: length for module, length in lengths.items() if length > MAX_MODULE} == {}


def test_functions_are_short():
    lengths = {f"{m}:{f.name}": f.end_lineno - f.lineno + 1 for m in MODULES for f in functions(m)}
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION} == {}


def defines_public_names(module):
    definitions = [node for node in tree(module).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return any(not node.name.startswith("_") for node in definitions)


def lists_its_names(module):
    assignments = [node for node in tree(module).body if isinstance(node, ast.Assign)]
    return any(
        isinstance(target, ast.Name) and target.id == "__all__" for node in assignments for target in node.targets
    )


def test_modules_list_their_public_names():
    """A package file that defines nothing has nothing to list."""
    needed = [module for module in MODULES if not module.endswith(("__init__.py", "__main__.py"))]
    needed += [module for module in MODULES if module.endswith("__init__.py") and defines_public_names(module)]
    assert [module for module in needed if not lists_its_names(module)] == []


def test_listed_names_exist():
    for module in MODULES:
        if lists_its_names(module) and not module.endswith("__main__.py"):
            name = f"nematodebench.{module.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
            content = importlib.import_module(name.removesuffix(".__init__"))
            assert [name for name in content.__all__ if not hasattr(content, name)] == []


FLAT_ARRAYS = {"hyper", "ints", "mem", "params", "state", "out"}
"""Arrays in which everything has a name (``kernels/memory.py``)."""
READ_BY_NAME = ("worlds", "brains", "engine")


def is_number_by_hand(node):
    """A whole number, or a constant that stands for one: ``3``, ``FILLED``, ``readout.PHI``."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.isupper()


def numbered_places(source):
    """Lines that read or write a flat array at a place that somebody has numbered by hand."""
    found = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Subscript):
            array = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
            if array in FLAT_ARRAYS and any(is_number_by_hand(part) for part in ast.walk(node.slice)):
                found.add(node.lineno)
    return sorted(found)


def test_memory_is_read_by_name():
    found = {module: numbered_places(tree(module)) for module in MODULES if package_of(module) in READ_BY_NAME}
    assert len(found) > 50
    assert {module: lines for module, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "reward = out[2]",
        "state[0] += 1.0",
        "ints[at + 3] = 1",
        "x = mem[ints[READOUT + ro.PHI] + i]",
        "x = params[_P_SCALES + n]",
        "first = hyper[LEARNING_RATE]",
        "x = self.mem[:16]",
        "agents.brains.ints[a, FILLED] = 0",
        "last = state[-1]",
    ],
)
def test_a_place_numbered_by_hand_is_found(line):
    assert numbered_places(ast.parse(line)) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "reward = outcome.reward[0]",
        "brain.init(hyper, ints[a], mem[a], rng[a])",
        "x = state.heading + params.table[i, 1]",
        "row = self.mem[row]",
        "obs[0] = np.float32(1.0)",
    ],
)
def test_names_and_variables_are_no_places_numbered_by_hand(line):
    assert numbered_places(ast.parse(line)) == []


def test_rooms_that_have_no_part_in_a_judgement_are_not_built_upon_by_those_that_judge():
    """A verdict is kept as long as the code that judges stays the same; these rooms may change without it."""
    from nematodebench.submissions.known import _OTHER_ROOMS

    assert not allowed("verification") & _OTHER_ROOMS
