"""What recorded metrics of an episode can be at all, world by world: whoever checks results of others compares with it.

No world imports this file: a bound that is added here leaves all compiled code as it is.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nematodebench.worlds.base import World

__all__ = ["Range", "ranges_of"]


@dataclass(frozen=True)
class Range:
    """What a metric can be.

    Attributes:
        low: It is never smaller.
        high: It is never larger.
        per_step: It is never larger than this, times the steps of the episode.
        whole: Whether it is a whole number.
    """

    low: float = 0.0
    high: float = math.inf
    per_step: float = math.inf
    whole: bool = False


Ranges = Mapping[str, Range]
_ONE_A_STEP = Range(per_step=1.0, whole=True)
_SHARE = Range(high=1.0)
_SIGN = Range(-1.0, 1.0, whole=True)
_REWARD: Mapping[str, Range] = {"reward": Range(low=-math.inf, per_step=1.0)}
"""Where no step is worth more than 1."""
_FOOD_REWARD = 2.0
"""What a food is worth in the worlds of worms, beside their shaping."""


def _foraging(world: Any) -> Ranges:
    """At most one cell and one food a step; nobody is fuller than full."""
    return {
        "success": Range(high=1.0, whole=True),
        "foods": Range(high=world.target, per_step=1.0, whole=True),
        "travelled": _ONE_A_STEP,
        "optimal": _ONE_A_STEP,
        "satiety": Range(high=world.satiety),
        "termination": Range(low=1.0, high=len(world.terminations), whole=True),
        "reward": Range(low=-math.inf, per_step=_FOOD_REWARD + world.shaping),
    }


def _plate(_world: Any) -> Ranges:
    """Shares of time and differences of them; a worm crawls at most 0.2 mm a tick."""
    return {
        "index": Range(-1.0, 1.0),
        "klinokinesis": Range(-1.0, 1.0),
        "weathervane": Range(low=-math.inf),
        "speed": Range(high=0.2),
        "end_index": _SIGN,
        **_REWARD,
    }


def _shares(*names: str) -> Ranges:
    return dict.fromkeys(names, _SHARE)


_DECLARED: dict[str, Callable[[Any], Ranges]] = {
    "foraging": _foraging,
    "predator": lambda world: {**_foraging(world), "health": Range(high=world.health)},
    "chemotaxis": lambda world: {
        "zone": _SIGN,
        "side": _SIGN,
        "distance": Range(high=2.0 * world.side, whole=True),
        **_REWARD,
    },
    "gridworld": lambda _: {"foods": _ONE_A_STEP, "bumps": _ONE_A_STEP, **_REWARD},
    "navigation": lambda _: {"foods": _ONE_A_STEP, "dangers": _ONE_A_STEP, **_REWARD},
    "realtime": lambda _: {"foods": _ONE_A_STEP, "dangers": _ONE_A_STEP, **_REWARD},
    "pattern_memory": lambda world: {
        "recalled": Range(high=world.length, per_step=1.0, whole=True),
        "reward": Range(low=-math.inf, high=world.length, per_step=1.0),
    },
    "association": lambda _: {"right": _ONE_A_STEP, **_REWARD},
    "bit_memory": lambda _: {"accuracy": Range(high=1.0, whole=True), "reward": Range(-1.0, 1.0)},
    "prediction": lambda _: {"error": Range(), **_REWARD},
    "pong": lambda _: {"hit_rate": _SHARE, "hits": _ONE_A_STEP, "misses": _ONE_A_STEP, **_REWARD},
    "cartpole": lambda _: {"balanced": _SHARE, **_REWARD},
    "cartpole_swingup": lambda _: {"mean_uprightness": _SHARE, **_REWARD},
    "cartpole_upright": lambda _: {**_shares("upright_share", "mean_uprightness"), **_REWARD},
    "wall": lambda _: {
        **_shares("nav_score", "gate", "ungated"),
        **dict.fromkeys(("collisions", "distance", "cells"), Range()),
        **_REWARD,
    },
    "rhythm": lambda _: {**_shares("lock", "gate", "ungated"), "amplitude": Range(), "period": Range(), **_REWARD},
    "plate_chemotaxis": _plate,
    "plate_aerotaxis": lambda world: {**_plate(world), "index": _SHARE, "end_index": Range(high=1.0, whole=True)},
    "plate_thermotaxis": _plate,
    "tracking": lambda _: {"track_score": Range(-1.0, 1.0), **_REWARD},
    "torus": lambda _: {**_shares("polarization", "milling"), "nearest_neighbour": Range(), **_REWARD},
    "forage": lambda _: {**_shares("forage_score", "polarization", "milling"), "nearest_neighbour": Range(), **_REWARD},
}


def ranges_of(world: World) -> Ranges:
    """What the metrics of a world can be; one that is not named may be any finite number."""
    declared = _DECLARED.get(world.name)
    return {} if declared is None else declared(world)
