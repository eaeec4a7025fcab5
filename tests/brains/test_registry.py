"""Brains are found by name, also by a name they had before."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from nematodebench.brains import declared, registry
from nematodebench.brains.listing import Summary, list_summaries
from nematodebench.brains.registry import canonical_name, get_brain, list_brains
from nematodebench.engine.run import resolve_config
from nematodebench.errors import UsageError
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import make_plan
from nematodebench.sessions.rerun import is_foreign

FILE = """
class Helper:
    names = ("nobody",)


class First:
    name = "first"
    kind = "classical"


class Second:
    name: ClassVar[str] = "second"
    aliases: ClassVar[tuple[str, ...]] = ("second_of_old", "older_second")


class Third:
    name, kind = "third", "classical"
    aliases = ("third_of_old",)
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with one file of three brains."""
    (tmp_path / "classical").mkdir()
    (tmp_path / "classical" / "several.py").write_text(FILE)
    monkeypatch.setattr(declared, "_FOLDER", tmp_path)
    declared._declared.cache_clear()
    yield
    declared._declared.cache_clear()


def test_aliases_belong_to_the_class_they_stand_in(room: None) -> None:
    modules, aliases = declared._declared()
    assert modules == dict.fromkeys(["first", "second", "third"], "nematodebench.brains.classical.several")
    assert aliases == {"second_of_old": "second", "older_second": "second", "third_of_old": "third"}


def test_a_name_of_today_is_its_own(room: None) -> None:
    assert canonical_name("first") == "first"
    assert canonical_name("older_second") == "second"
    assert canonical_name("module:Class") == "module:Class"


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The random policy as if it had had another name."""
    modules, _ = declared._declared()
    monkeypatch.setattr(declared, "_declared", lambda: (modules, {"coin_flipper": "null_random"}))


def test_an_older_name_finds_the_brain(renamed: None) -> None:
    assert get_brain("coin_flipper") is get_brain("null_random")
    assert not is_foreign("coin_flipper")
    assert "coin_flipper" not in list_brains()


def test_sessions_of_an_older_name_store_the_name_of_today(renamed: None) -> None:
    plan = make_plan(SessionConfig(task="foraging_small-v1", brain="coin_flipper"))
    assert plan.brain_name == "null_random"


def test_a_name_nobody_had_is_unknown() -> None:
    with pytest.raises(UsageError, match="does not exist"):
        get_brain("coin_flipper")
    assert is_foreign("coin_flipper")


def test_the_new_parameter_of_a_brain_has_its_default_in_stored_configs() -> None:
    brain = get_brain("gradient_follower")
    assert resolve_config("gradient_follower", brain, {}) == brain.config()


@pytest.mark.parametrize("name", registry.list_brains())
def test_what_a_list_says_without_importing_is_what_the_class_says(name):
    brain = registry.get_brain(name)
    path = "compiled" if registry.is_compiled(brain) else "Python"
    (listed,) = [summary for summary in list_summaries() if summary.name == name]
    assert listed == Summary(name, registry.class_of(brain), path, inspect.getdoc(brain).split("\n")[0])


def test_listing_brains_imports_no_library_of_theirs():
    code = "import sys; from nematodebench.cli import build; build()(['brains'], standalone_mode=False); "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


BRAIN = """
class Filed:
    def __init__(self, observation_space, action_space, config, seed): pass
    def act(self, observation): return 0
    def learn(self, transition): pass
    def begin_episode(self): pass
"""


def test_a_brain_of_a_file_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "filed_brain.py").write_text(BRAIN)
    name = f"{tmp_path}/filed_brain.py:Filed"
    assert get_brain(name).__name__ == "Filed"
    assert is_foreign(name)
    assert not registry.is_built_in(name)
    plan = make_plan(SessionConfig(task="foraging_small-v1", brain=name))
    assert (plan.brain_name, plan.config_name) == (name, "filed_brain_Filed_foraging_small.yml")


@pytest.mark.parametrize(
    ("file", "name", "message"),
    [
        ("absent_brain.py", "absent.py:Filed", "there is no file"),
        ("classless_brain.py", "classless_brain.py:Other", "has no class 'Other'"),
        ("json.py", "json.py:Filed", "there is another module called json. Rename the file"),
    ],
)
def test_a_brain_that_is_not_in_its_file(tmp_path: Path, file: str, name: str, message: str) -> None:
    (tmp_path / file).write_text(BRAIN)
    with pytest.raises(UsageError, match=message):
        get_brain(f"{tmp_path}/{name}")


def test_a_brain_is_of_this_repository_only_if_a_file_of_the_package_declares_it(monkeypatch) -> None:
    monkeypatch.setitem(registry._REGISTERED, "mine", object)
    assert registry.is_built_in("mlp_ppo")
    assert not registry.is_built_in("mine")
