"""The NematodeBench metrics of a run and a session, from raw episode records (EVALUATION.md, metrics)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench.scoring.convergence import final_success_rates, rolling_counts
from nematodebench.stats import Z95
from nematodebench.stats.checks import BoolArray, FloatArray, number, outcomes, require_unit, vector

__all__ = [
    "BIOLOGICAL_LEVELS",
    "LEVELS",
    "SessionScores",
    "biological_level",
    "chemotaxis_index",
    "chemotaxis_interval",
    "composite",
    "distance_efficiency",
    "episode_success",
    "episodes_to_80",
    "learning_speed",
    "level",
    "score_session",
    "stability",
    "success_rate",
]

LEVELS = ((0.90, "Exceptional"), (0.80, "Excellent"), (0.70, "Good"), (0.60, "Acceptable"), (0.0, "Below threshold"))
BIOLOGICAL_LEVELS = ((0.75, "Excellent"), (0.60, "Target"), (0.40, "Minimum"), (-1.0, "None"))

_WINDOW = 20

_Value = TypeVar("_Value", float, FloatArray)


def episode_success(
    foods: ArrayLike, target_foods: int, steps: ArrayLike, max_steps: int, alive: ArrayLike
) -> BoolArray:
    """Whether each episode succeeded: it collected the target, or was alive at max_steps with at least one food."""
    food, step, survived = np.asarray(foods), np.asarray(steps), np.asarray(alive, dtype=np.bool_)
    if food.shape != step.shape or food.shape != survived.shape:
        raise ValueError(
            f"foods, steps and alive have shapes {food.shape}, {step.shape}, {survived.shape}: pass equal ones"
        )
    flags: BoolArray = (food >= target_foods) | (survived & (step >= max_steps) & (food >= 1))
    return flags


def success_rate(successes: ArrayLike) -> float:
    """Share of successful episodes over all episodes of a run."""
    return float(outcomes("successes", successes, ndim=1).mean())


def distance_efficiency(optimal: ArrayLike, travelled: ArrayLike, reached: ArrayLike) -> FloatArray:
    """How directly each episode went to its first food; the run's value is the mean over all its episodes.

    Args:
        optimal: Shortest travel distance from the start to the food collected first, in the world's own metric.
        travelled: Distance moved until it was collected.
        reached: Whether any food was collected; where not, the value is 0 and both distances are ignored.

    Returns:
        min(1, optimal / travelled) per episode, in the shape of the input.
    """
    shortest, moved = np.asarray(optimal, dtype=np.float64), np.asarray(travelled, dtype=np.float64)
    got_food = np.asarray(reached, dtype=np.bool_)
    if shortest.shape != moved.shape or shortest.shape != got_food.shape:
        shapes = f"{shortest.shape}, {moved.shape}, {got_food.shape}"
        raise ValueError(f"optimal, travelled and reached have shapes {shapes}: pass equal ones")
    for name, distance in (("optimal", shortest), ("travelled", moved)):
        if not (np.isfinite(distance[got_food]) & (distance[got_food] >= 0)).all():
            raise ValueError(f"{name} is negative or not finite where food was reached: pass the distance moved")
    # A food within reach of the start takes no travel at all and is as direct as can be.
    ratio = np.divide(shortest, moved, out=np.ones_like(shortest), where=got_food & (moved > 0))
    return np.where(got_food, np.minimum(1.0, ratio), 0.0)


def episodes_to_80(successes: ArrayLike, window: int = _WINDOW) -> int | None:
    """First episode (1-based) whose last `window` episodes have at least 80 % success; None if never."""
    first = int(_e80_rows(outcomes("successes", successes, ndim=1)[np.newaxis], window)[0])
    return first or None


def learning_speed(successes: ArrayLike, max_episodes: int | None = None, window: int = _WINDOW) -> float:
    """1 - e80/E in [0, 1], with E the run's episodes or `max_episodes`; 0 if 80 % is never reached."""
    flags = outcomes("successes", successes, ndim=1)[np.newaxis]
    return float(_speed_rows(flags, flags.shape[1] if max_episodes is None else max_episodes, window)[0])


def _e80_rows(flags: BoolArray, window: int) -> NDArray[np.int_]:
    """e80 of each row, 0 where never. In whole numbers: 0.8 is no binary fraction, and 16 of 20 must pass."""
    if window < 1:
        raise ValueError(f"window is {window}: pass at least 1 episode")
    if window > flags.shape[1]:
        return np.zeros(len(flags), dtype=np.int_)
    reached = 5 * rolling_counts(flags, window) >= 4 * window
    return np.where(reached.any(axis=1), reached.argmax(axis=1) + window, 0)


def _speed_rows(flags: BoolArray, max_episodes: int, window: int) -> FloatArray:
    if max_episodes < 1:
        raise ValueError(f"max_episodes is {max_episodes}: pass the run's number of episodes")
    first = _e80_rows(flags, window)
    return np.where(first > 0, np.clip(1.0 - first / max_episodes, 0.0, 1.0), 0.0)


def stability(final_success_rates: ArrayLike) -> float:
    """1 - std/mean of the session's final success rates in [0, 1]; 0 if their mean is 0 or there is only one run."""
    rates = require_unit("final_success_rates", vector("final_success_rates", final_success_rates))
    if rates.size == 1 or rates.mean() == 0.0:
        return 0.0
    return float(np.clip(1.0 - rates.std(ddof=1) / rates.mean(), 0.0, 1.0))


def composite(success_rate: _Value, distance_efficiency: _Value, learning_speed: _Value, stability: float) -> _Value:
    """0.40 success + 0.30 efficiency + 0.20 speed + 0.10 stability, of one run or of an array of runs."""
    parts: dict[str, ArrayLike] = {
        "success_rate": success_rate,
        "distance_efficiency": distance_efficiency,
        "learning_speed": learning_speed,
        "stability": stability,
    }
    for name, part in parts.items():
        require_unit(name, part)
    return 0.40 * success_rate + 0.30 * distance_efficiency + 0.20 * learning_speed + 0.10 * stability


def level(score: float) -> str:
    """The name of a composite score's level, judged on the unrounded mean."""
    return _named(number("score", score, 0.0, 1.0), LEVELS)


def chemotaxis_index(n_attractant: int, n_control: int, n_total: int) -> float:
    """(N_attractant - N_control) / N_total over the runs' end positions; N_total counts all worms, chance is 0.

    It is the mean of +1 (attractant), -1 (control) and 0 (neither) over the worms, see `chemotaxis_interval`.
    """
    if n_total < 1 or min(n_attractant, n_control) < 0 or n_attractant + n_control > n_total:
        counts = f"n_attractant {n_attractant}, n_control {n_control} of n_total {n_total}"
        raise ValueError(f"{counts} is impossible: pass counts from 0 that add up to at most n_total >= 1")
    return (n_attractant - n_control) / n_total


def chemotaxis_interval(n_attractant: int, n_control: int, n_total: int) -> tuple[float, float]:
    """95 % interval of the index: adjusted Wald, which adds one worm to either spot.

    The plain interval has no width when all worms agree, which is not what 50 worms can tell.
    """
    chemotaxis_index(n_attractant, n_control, n_total)
    total, reached = n_total + 2, n_attractant + n_control + 2
    centre = (n_attractant - n_control) / total
    half = Z95 * math.sqrt(max(0.0, reached / total - centre**2) / total)
    return max(-1.0, centre - half), min(1.0, centre + half)


def biological_level(ci: float) -> str:
    """The name of a chemotaxis index's validation level."""
    return _named(number("ci", ci, -1.0, 1.0), BIOLOGICAL_LEVELS)


def _named(value: float, levels: tuple[tuple[float, str], ...]) -> str:
    return next(name for bound, name in levels if value >= bound)


@dataclass(frozen=True)
class SessionScores:
    """A session's metrics: one value per run, except `stability`, which the session has as a whole."""

    success_rate: FloatArray
    distance_efficiency: FloatArray
    learning_speed: FloatArray
    final_success_rate: FloatArray
    stability: float
    composite: FloatArray


def score_session(successes: ArrayLike, distance_efficiency: ArrayLike) -> SessionScores:
    """Score a whole session at once.

    Args:
        successes: (runs, episodes) success flags.
        distance_efficiency: (runs, episodes) values of `distance_efficiency`.
    """
    flags = outcomes("successes", successes, ndim=2)
    episode_efficiency = require_unit("distance_efficiency", distance_efficiency)
    if episode_efficiency.shape != flags.shape:
        shapes = f"{episode_efficiency.shape} and successes {flags.shape}"
        raise ValueError(f"distance_efficiency has shape {shapes}: pass one value per episode")
    rate: FloatArray = flags.mean(axis=1)
    efficiency: FloatArray = episode_efficiency.mean(axis=1)
    speed = _speed_rows(flags, flags.shape[1], _WINDOW)
    final = final_success_rates(flags)
    steady = stability(final)
    return SessionScores(rate, efficiency, speed, final, steady, composite(rate, efficiency, speed, steady))
