"""Nematode tasks: a worm forages, with and without predators, and gets the composite score.

Every run ends on the chemotaxis plate: the trained brain goes through one assay episode, from which the board takes
its biological level. It costs 300 steps and never enters the composite.
"""

from dataclasses import fields, replace

from nematodebench.measures.chemotaxis import CHEMOTAXIS
from nematodebench.measures.composite import COMPOSITE
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.worm.chemotaxis import Chemotaxis
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator

__all__ = ["FIRST", "SECOND", "TASKS"]

_SENSING = {"gradient": "", "klinotaxis": "_klinotaxis", "temporal": "_temporal", "concentration": "_temporal"}
_FIRST_SENSING = ("gradient", "klinotaxis", "temporal")

_FORAGING = {
    "small": Foraging(),
    "medium": Foraging(
        side=50, foods=10, target=15, spacing=5, exclusion=10, decay=6, max_steps=1000, satiety=300, satiety_gain=55
    ),
    "large": Foraging(
        side=100, foods=20, target=20, spacing=10, exclusion=15, decay=5, max_steps=2000, satiety=500, satiety_gain=90
    ),
}
_PREDATOR = {
    "small": Predator(foods=6, satiety=250, satiety_gain=32, predators=2, detection=6),
    "medium": Predator(
        side=50, foods=12, target=15, spacing=5, exclusion=10, decay=6, max_steps=1000, satiety=300, satiety_gain=55,
        predators=4, detection=8,
    ),
    "large": Predator(
        side=100, foods=25, target=20, spacing=10, exclusion=15, decay=5, max_steps=2000, satiety=500, satiety_gain=90,
        predators=10, detection=10,
    ),
}  # fmt: skip
# Second versions: food is scarce and hunger quick, the worm starts anywhere and no reward tells it that food is nearer.
_SCARCE = {
    "small": Foraging(
        foods=2, spacing=5, exclusion=6, max_steps=300, satiety=60, satiety_gain=20, shaping=0.0, random_start=True
    ),
    "medium": Foraging(
        side=50, foods=4, spacing=10, exclusion=12, decay=10, max_steps=600, satiety=120, satiety_gain=40, shaping=0.0,
        random_start=True,
    ),
    "large": Foraging(
        side=100, foods=8, spacing=15, exclusion=15, decay=12, max_steps=1000, satiety=200, satiety_gain=60,
        shaping=0.0, random_start=True,
    ),
}  # fmt: skip
# So many predators that a worm that ignores them scores .6 to .7 and one that knows where they are more than .93.
_HUNTED = {
    "small": {"predators": 4, "detection": 6},
    "medium": {"predators": 12, "detection": 8},
    "large": {"predators": 30, "detection": 10},
}
_TEMPORAL = replace(_SCARCE["small"], sensing="concentration", satiety=100, satiety_gain=40, max_steps=400, shaping=0.5)
_TEMPORAL_EPISODES = 3000
_FULL_STATE = ""
_REFERENCE = "gradient_follower"
_EPISODES = {"small": 500, "medium": 200, "large": 100}
_VARIANTS = [("small", "gradient"), ("medium", "gradient"), ("large", "gradient"), ("small", "klinotaxis")]
"""Every size with gradient sensing, and the small one with klinotaxis."""


def _task(name: str, summary: str, world: Foraging, episodes: int, reference: str = _REFERENCE) -> Task:
    plate = Chemotaxis(sensing=world.sensing, with_predator_inputs=isinstance(world, Predator))
    return Task(
        id=name,
        summary=summary,
        phases=(Phase("train", world, episodes=episodes), Phase("assay", plate, episodes=1)),
        scored="train",
        scoring=COMPOSITE,
        score_key="composite_score",
        assay="assay",
        reference_brain=reference,
    )


def _foraging_tasks() -> list[Task]:
    """Every size with every kind of sensing."""
    tasks = []
    for sensing in _FIRST_SENSING:
        for size, world in _FORAGING.items():
            name = f"foraging_{size}{_SENSING[sensing]}-v1"
            tasks.append(
                _task(name, _foraging_summary(world, sensing), replace(world, sensing=sensing), _EPISODES[size])
            )
    return tasks


def _foraging_summary(world: Foraging, sensing: str) -> str:
    return f"collect {world.target} foods on {world.side} x {world.side} cells, {sensing} sensing"


def _scarce_tasks() -> list[Task]:
    """Every size with gradient sensing, and the small one with the other kinds."""
    tasks = []
    for size, sensing in _VARIANTS:
        world = replace(_SCARCE[size], sensing=sensing)
        summary = f"{_foraging_summary(world, sensing)}; food is scarce, nothing tells that it is nearer"
        tasks.append(_task(f"foraging_{size}{_SENSING[sensing]}-v2", summary, world, _EPISODES[size]))
    return tasks


def _predator_tasks() -> list[Task]:
    """Every size with gradient sensing, and the small one with klinotaxis."""
    tasks = []
    for size, sensing in _VARIANTS:
        world = replace(_PREDATOR[size], sensing=sensing)
        summary = f"as foraging_{size}, hunted by {world.predators} predators, {sensing} sensing"
        tasks.append(_task(f"predator_{size}{_SENSING[sensing]}-v1", summary, world, _EPISODES[size]))
    return tasks


def _hunted_tasks() -> list[Task]:
    """As foraging of the same size, with more predators than in the first versions."""
    tasks = []
    for size, sensing in _VARIANTS:
        scarce = _SCARCE[size]
        shared = {field.name: getattr(scarce, field.name) for field in fields(scarce)}
        world = Predator(**{**shared, "sensing": sensing, **_HUNTED[size]})
        summary = f"as foraging_{size}-v2, hunted by {world.predators} predators, {sensing} sensing"
        name = f"predator_{size}{_SENSING[sensing]}-v2"
        tasks.append(_task(name, summary, world, _EPISODES[size], _FULL_STATE))
    return tasks


def _temporal_task() -> Task:
    """Only the local concentration is sensed, so that a worm without memory cannot tell where it gets stronger."""
    summary = f"{_foraging_summary(_TEMPORAL, 'concentration')} alone: direction is found by moving and remembering"
    return _task("foraging_small_temporal-v2", summary, _TEMPORAL, _TEMPORAL_EPISODES, _FULL_STATE)


def _assay() -> Task:
    return Task(
        id="chemotaxis_assay-v1",
        summary="trained on foraging_small, then each run ends on one plate: attractant or mirrored control",
        phases=(
            Phase("train", _FORAGING["small"], episodes=_EPISODES["small"]),
            Phase("assay", Chemotaxis(), episodes=1),
        ),
        scored="assay",
        scoring=CHEMOTAXIS,
        score_key="chemotaxis_index",
        assay="assay",
        floor=0.0,  # attractant and control are mirror images
        reference_brain=_REFERENCE,
    )


FIRST = (*_foraging_tasks(), *_predator_tasks(), _assay())
SECOND = (*_scarce_tasks(), _temporal_task(), *_hunted_tasks())
TASKS = (*FIRST, *SECOND)
