"""Memory tasks: one bit over longer and longer delays.

A run is a budget of experience, then 400 scored trials in which the brain stays as it is, learning included. What is
seen when the answer is asked for is always the same, so a policy without memory is exactly at chance.
"""

from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.cognition.bit_memory import BitMemory

__all__ = ["TASKS"]

_BUDGET, _TRIALS = 200_000, 400


def _task(delay: int) -> Task:
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


TASKS = tuple(_task(delay) for delay in (1, 4, 16, 64))
