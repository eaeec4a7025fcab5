"""Which files decide what a brain from outside does: a session does not go on where one of them has changed."""

from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from nematodebench.own_files import imported_names, own_files


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Makes files below a folder and says which of them count for ``brains/own.py``."""
    monkeypatch.chdir(tmp_path)

    def make(source, files=None, config=""):
        for name, text in {
            "brains/own.py": source,
            **(files or {}),
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return set(own_files((tmp_path / "brains" / "own.py").resolve(), config)) - {"own.py"}

    return make


def test_modules_count_wherever_they_are_imported(made):
    source = "import first\ndef later():\n    from package.inner import deep\n"
    files = {"brains/first.py": "import second\n", "brains/second.py": "", "brains/package/inner/deep.py": "",
             "brains/package/inner/__init__.py": "", "brains/other.py": ""}  # fmt: skip
    assert made(source, files) == {"first.py", "second.py", "package/inner/__init__.py", "package/inner/deep.py"}


def test_relative_imports_count_also_from_the_folder_above(made, tmp_path):
    files = {"brains/near.py": "", "common.py": "from .further import thing\n", "further.py": ""}
    found = made("from . import near\ndef later():\n    from ..common import helper\n", files)
    assert found == {"near.py", *(str((tmp_path / name).resolve()) for name in ("common.py", "further.py"))}


@pytest.mark.parametrize(
    "call", ['importlib.import_module("late")', '__import__("late")', 'import_module("pack.late")']
)
def test_modules_that_are_imported_by_a_call_count(made, call):
    """They are loaded in the process of a run, and only there."""
    name = "late.py" if "pack" not in call else "pack/late.py"
    assert made(f"def act():\n    return {call}.VALUE\n", {f"brains/{name}": "", "brains/other.py": ""}) == {name}


@pytest.mark.parametrize("suffix", [*EXTENSION_SUFFIXES, ".pyc"])
def test_modules_that_are_no_sources_count(made, suffix):
    files = {f"brains/fast{suffix}": "\0", f"brains/package/inner{suffix}": "\0", f"brains/other{suffix}": "\0"}
    assert made("import fast\nfrom package import inner\n", files) == {f"fast{suffix}", f"package/inner{suffix}"}


def test_modules_on_the_path_count_unless_they_are_installed(made, tmp_path, monkeypatch):
    for place in ("shared", "venv/site-packages"):
        monkeypatch.syspath_prepend(str(tmp_path / place))
    files = {"shared/mine.py": "", "venv/site-packages/theirs.py": ""}
    found = made("import json, mine, theirs, nematodebench.files\n", files)
    assert found == {str((tmp_path / "shared" / "mine.py").resolve())}


@pytest.mark.parametrize(
    "line",
    [
        'open("weights.npz")', 'Path(__file__).parent / "weights.npz"', 'numpy.load(os.path.join(HERE, "weights.npz"))',
        'NAME = "weights.npz"', 'open("weights.npz", "rb")', 'torch.load(f=Path("weights.npz"))',
    ],
)  # fmt: skip
def test_files_that_a_source_names_count(made, line):
    assert made(f"def load():\n    {line}\n", {"brains/weights.npz": "1"}) == {"weights.npz"}


def test_a_path_that_is_put_together_counts(made):
    source = 'A = Path(__file__).parent / "data" / "a.npz"\nB = os.path.join(HERE, "data", "b.npz")\n'
    files = {"brains/data/a.npz": "1", "brains/data/b.npz": "1", "brains/data/c.npz": "1"}
    assert made(source, files) == {"data/a.npz", "data/b.npz"}


@pytest.mark.parametrize(
    "line",
    ['open("log.txt", "a")', 'open("log.txt", mode="w")', 'Path("log.txt").write_text(x)', 'numpy.save("log.txt", x)',
     'logging.FileHandler("log.txt")'],
)  # fmt: skip
def test_files_that_are_only_written_do_not_count(made, line):
    assert made(f"def write(x):\n    {line}\n", {"brains/log.txt": "1"}) == set()


def test_files_that_a_config_names_count(made, tmp_path):
    config = "brain: own.py:Own\nconfig:\n  weights: kept.pt\n  list: [a.npz]\n"
    found = made("", {"kept.pt": "1", "brains/a.npz": "1"}, config)
    assert found == {"a.npz", str((tmp_path / "kept.pt").resolve())}


def test_what_cannot_be_read_or_is_no_name_does_no_harm(made):
    assert made("this is (no Python\n", {"brains/a.npz": "1"}, "{") == set()
    assert made('A = "\\0.npz"\nB = "' + "x" * 5000 + '.npz"\nC = "~nobody/.npz"\nD = 3\n') == set()


def test_libraries_are_known_by_the_imports_that_runs_will_reach(made, tmp_path):
    made("def later():\n    import scipy.stats\n    from . import near\n", {"brains/near.py": "import torch\n"})
    names = imported_names(own_files((tmp_path / "brains" / "own.py").resolve(), ""))
    assert {"scipy", "torch"} <= names
