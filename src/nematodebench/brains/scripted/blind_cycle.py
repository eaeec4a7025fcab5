"""Brain `blind_cycle`: plays a fixed cycle of actions whatever it senses."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.jit import F32
from nematodebench.kernels.memory import constants, counter, size

__all__ = ["BlindCycle", "BlindCycleConfig"]


class BlindCycleConfig(BrainConfig):
    """Parameters of `blind_cycle`."""

    segments: tuple[tuple[float, ...], ...] = Field(
        ((1.0,),),
        min_length=1,
        max_length=1000,
        description="the cycle: ticks and then the action (a choice, or effectors) of each segment; 0 where left out",
    )


class Memory(BrainMemory):
    """Of `blind_cycle`: the cycle, and where in it the brain is."""

    segments = size()
    width = size()
    lengths = constants("segments")
    levels = constants("segments", "width")
    segment = counter()
    tick = counter()


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Begins the cycle anew."""
    brain.segment, brain.tick = 0, 0


@Memory.kernel
def act(brain: Memory, action: F32) -> None:
    """Takes the segment's action; goes to the next segment when its ticks are over."""
    for n in range(brain.width):
        action[n] = np.float32(brain.levels[brain.segment, n])
    brain.tick += 1
    if brain.tick >= brain.lengths[brain.segment]:
        brain.tick = 0
        brain.segment = (brain.segment + 1) % brain.segments


class BlindCycle(CompiledBrain):
    """Ignores its input: the best such policy of a task is found by `calibrate --blind`, and skill begins above it.

    | segments | what it does |
    |---|---|
    | one | the same action for ever |
    | several | each for its number of ticks, in a cycle that begins anew with every episode |
    """

    name: ClassVar[str] = "blind_cycle"
    kind: ClassVar[BrainClass] = "scripted"
    config = BlindCycleConfig
    memory = Memory
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def sizes(cls, config: BlindCycleConfig, body: Interface) -> Mapping[str, Any]:
        """The segments as rows of equal length.

        Raises:
            ValueError: if a segment lasts no whole number of ticks or is no action of this body.
        """
        rows = np.zeros((len(config.segments), 1 + body.action_width))
        for row, segment in zip(rows, config.segments, strict=True):
            if not 1 <= len(segment) <= row.size:
                raise ValueError(f"segment {segment} has {len(segment)} numbers: give ticks and {row.size - 1} more")
            row[: len(segment)] = segment
            _check(segment, body)
        return {"segments": len(rows), "width": body.action_width, "lengths": rows[:, 0], "levels": rows[:, 1:]}


def _check(segment: tuple[float, ...], body: Interface) -> None:
    ticks, *levels = segment
    if ticks < 1 or ticks != math.floor(ticks):
        raise ValueError(f"segment {segment} lasts {ticks:g} ticks: give a whole number from 1 on")
    for level in levels:
        if body.choices and not (0 <= level < body.choices and level == math.floor(level)):
            raise ValueError(f"segment {segment}: {level:g} is none of the actions 0 to {body.choices - 1}")
        if body.effectors and not 0.0 <= level <= 1.0:
            raise ValueError(f"segment {segment}: an effector of {level:g} is outside of [0, 1]")
