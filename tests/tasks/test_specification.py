"""A stored specification is the task's as long as parameters that came later do nothing."""

import dataclasses
import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import all_tasks, get_task
from nematodebench.tasks.specification import specification_hash
from nematodebench.worlds.base import added
from nematodebench.worlds.worm.foraging import Foraging

STORED: dict[str, Any] = json.loads(json.dumps(get_task("foraging_small-v1").spec()))


def task_with(world: Foraging) -> Task:
    """The task foraging_small-v1 in a world that was developed further."""
    task = get_task("foraging_small-v1")
    return replace(task, phases=(Phase("train", world, episodes=500), *task.phases[1:]))


@dataclass(frozen=True)
class Noisy(Foraging):
    """A newcomer's parameter that does nothing by default."""

    noise: float = 0.0
    name: ClassVar[str] = "foraging"


@dataclass(frozen=True)
class Loud(Foraging):
    """The same parameter after somebody changed its default."""

    noise: float = 0.1
    name: ClassVar[str] = "foraging"


@dataclass(frozen=True)
class Touchy(Foraging):
    """What was a number in the code became a parameter."""

    touch_penalty: float = added(0.02)
    name: ClassVar[str] = "foraging"


def test_every_task_is_what_it_says() -> None:
    for task in all_tasks().values():
        assert task.changes_since(json.loads(json.dumps(task.spec()))) == []


def test_a_parameter_that_does_nothing_changes_nothing() -> None:
    task = task_with(Noisy())
    assert task.spec_hash != get_task("foraging_small-v1").spec_hash
    assert task.changes_since(STORED) == []


def test_a_later_default_that_does_something_is_found() -> None:
    """Both by what was stored before the parameter came and by what was stored with it."""
    assert task_with(Loud()).changes_since(STORED) == ["phases[0].noise was 0.0 and is 0.1"]
    since = json.loads(json.dumps(task_with(Noisy()).spec()))
    assert task_with(Loud()).changes_since(since) == ["phases[0].noise was 0.0 and is 0.1"]


def test_a_task_that_uses_the_new_parameter_is_another_task() -> None:
    assert task_with(Noisy(noise=0.5)).changes_since(STORED) == ["phases[0].noise was 0.0 and is 0.5"]


def test_a_number_of_the_code_becomes_a_parameter() -> None:
    assert task_with(Touchy()).changes_since(STORED) == []
    assert task_with(Touchy(touch_penalty=0.5)).changes_since(STORED) == ["phases[0].touch_penalty was 0.02 and is 0.5"]


@pytest.mark.parametrize("value", [1, 1.5, True, "text", (1,), None])
def test_a_lacking_key_is_nothing_of_its_kind(value: Any) -> None:
    @dataclass(frozen=True)
    class Grown(Foraging):
        more: Any = value
        name: ClassVar[str] = "foraging"

    empty = None if value is None else type(value)()
    assert bool(task_with(Grown()).changes_since(STORED)) == bool(value)
    assert task_with(Grown(more=empty)).changes_since(STORED) == []


def test_every_changed_parameter_is_found() -> None:
    for field in dataclasses.fields(Foraging):
        spec = json.loads(json.dumps(STORED))
        old = spec["phases"][0][field.name]
        spec["phases"][0][field.name] = f"{old}!" if isinstance(old, str) else old + 1
        assert len(get_task("foraging_small-v1").changes_since(spec)) == 1


def test_whole_numbers_and_numbers_with_a_point_are_told_apart() -> None:
    spec = json.loads(json.dumps(STORED))
    spec["phases"][0]["side"] = 20.0
    assert get_task("foraging_small-v1").changes_since(spec) == ["phases[0].side was 20.0 and is 20"]


def test_a_parameter_that_was_removed_is_found() -> None:
    spec = json.loads(json.dumps(STORED))
    spec["phases"][0]["wind"] = 0.0
    changes = get_task("foraging_small-v1").changes_since(spec)
    assert changes == ["phases[0].wind was 0.0 and does not exist any more"]


def test_another_number_of_phases_is_found() -> None:
    spec = json.loads(json.dumps(STORED))
    spec["phases"].pop()
    assert len(get_task("foraging_small-v1").changes_since(spec)) == 1


def test_ticks_of_experience_are_part_of_the_specification() -> None:
    """Worlds with a parameter ``ticks`` hid those of the phase in the first specifications, which are still read."""
    task = get_task("wall-v1")
    longer = replace(task, phases=(replace(task.phases[0], ticks=200_000), *task.phases[1:]))
    stored = json.loads(json.dumps(task.spec()))
    assert longer.changes_since(stored) == ["phases[0].experience was 100000 and is 200000"]
    del stored["phases"][0]["experience"]
    for phase in stored["phases"]:
        for later in ("random_start", "heading_noise", "bump_weight", "bump_cost"):
            assert not phase.pop(later)
    assert specification_hash(stored) == "07c9c95aa61f5fe3d0497054ebef529e02d38448d082fb6fa6129ac867608037"
    assert task.changes_since(stored) == []
