"""Recipes of input-blind policies: small files that anybody can write to beat the stored one.

A recipe is YAML or JSON. ``segments`` is played in a cycle that begins anew with every episode. A segment is a number
of ticks and then the action, by its name or number, or one level for every effector::

    name: lawn-mower
    segments:
      - [18, forward]
      - [1, right]
      - [1, forward]
      - [1, right]
      - [18, forward]
      - [1, left]
      - [1, forward]
      - [1, left]
"""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nematodebench.brains.scripted.blind_cycle import BlindCycle, BlindCycleConfig
from nematodebench.calibration.rollouts import Cycle
from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.tasks.base import Task

__all__ = ["Recipe", "read_recipe", "recipe_cycle"]


class Recipe(BaseModel):
    """What a recipe's file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("", description="what it is called in tables; the file's name if left out")
    segments: list[Annotated[list[float | str], Field(min_length=2)]] = Field(
        min_length=1, max_length=1000, description="ticks, then the action by name or number, or the effectors' levels"
    )


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe; one line that says what is wrong if it is none."""
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        recipe = Recipe.model_validate(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: it is neither YAML nor JSON.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(f"{path} is no recipe: {place}: {first['msg']}") from error
    return recipe if recipe.name else recipe.model_copy(update={"name": path.stem})


def recipe_cycle(recipe: Recipe, task: Task) -> Cycle:
    """The recipe as segments for a task; an error where it is none of its actions."""
    cycle = tuple(tuple(_number(value, task) for value in segment) for segment in recipe.segments)
    try:
        BlindCycle.layout(BlindCycleConfig(segments=cycle), interface(task))
    except ValueError as error:
        raise UsageError(f"Recipe {recipe.name!r} does not fit {task.id}: {error}") from error
    return cycle


def _number(value: float | str, task: Task) -> float:
    if not isinstance(value, str):
        return float(value)
    names = task.world.actions.names if task.discrete else ()
    if value not in names:
        known = f"its actions are {', '.join(names)}" if names else "it has effectors: give their levels"
        raise UsageError(f"{task.id} has no action {value!r}: {known}.")
    return float(names.index(value))
