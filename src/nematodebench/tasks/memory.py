"""Memory tasks: one bit over longer and longer delays, and sequences of symbols.

A run is a budget of experience, then 400 scored trials in which the brain stays as it is, learning included. What is
seen when an answer is asked for says nothing about the right one, so a policy without memory is exactly at chance.
"""

from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.cognition.bit_memory import BitMemory
from nematodebench.worlds.cognition.pattern_memory import PatternMemory

__all__ = ["TASKS"]

_BUDGET, _TRIALS = 200_000, 400
_LONG_BUDGET = 1_000_000
"""For five symbols of four kinds and more: in a fifth of it `gru_ppo` learns to recall less than half of them."""


def _bit(delay: int) -> Task:
    world = BitMemory(delay)
    return Task(
        id=f"bit_memory_{delay}-v1",
        summary=f"remember one bit over {delay} distractor{'s' if delay > 1 else ''}",
        phases=(Phase("train", world, ticks=_BUDGET), Phase("scored", world, episodes=_TRIALS)),
        scored="scored",
        scoring=ANCHORED,
        score_key="accuracy",
        floor=0.5,  # a fair coin
    )


def _pattern(name: str, summary: str, world: PatternMemory, budget: int) -> Task:
    """Scored by how many symbols are recalled, not by the reward: chance and the best are known for that exactly."""
    return Task(
        id=f"{name}-v3",
        summary=summary,
        phases=(Phase("train", world, ticks=budget), Phase("scored", world, episodes=_TRIALS)),
        scored="scored",
        scoring=ANCHORED,
        score_key="recalled",
        floor=world.length / world.symbols,
        ceiling=float(world.length),
    )


TASKS = (
    *(_bit(delay) for delay in (1, 4, 16, 64)),
    _pattern("pattern_memory", "learn to recall five symbols of four in order", PatternMemory(), _LONG_BUDGET),
    _pattern("pattern_memory_easy", "learn to recall three symbols of two in order", PatternMemory.easy(), _BUDGET),
    _pattern(
        "pattern_memory_hard", "learn to recall seven symbols of six in order", PatternMemory.hard(), _LONG_BUDGET
    ),
)
