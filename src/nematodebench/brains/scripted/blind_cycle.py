"""Brain `blind_cycle`: plays a fixed cycle of actions whatever it senses."""

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64

__all__ = ["BlindCycle", "BlindCycleConfig"]

# Words of ints; hyper holds the segments, each its ticks and then its levels.
SEGMENTS, WIDTH, AT, TICK = 0, 1, 2, 3


class BlindCycleConfig(BrainConfig):
    """Parameters of `blind_cycle`."""

    segments: tuple[tuple[float, ...], ...] = Field(
        ((1.0,),),
        min_length=1,
        max_length=1000,
        description="the cycle: ticks and then the action (a choice, or effectors) of each segment; 0 where left out",
    )


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Begins the cycle anew."""
    ints[AT], ints[TICK] = 0, 0


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The segment's action; the next segment when its ticks are over."""
    row = ints[AT] * (1 + ints[WIDTH])
    for n in range(ints[WIDTH]):
        action[0, n] = np.float32(hyper[row + 1 + n])
    ints[TICK] += 1
    if ints[TICK] >= hyper[row]:
        ints[TICK] = 0
        ints[AT] = (ints[AT] + 1) % ints[SEGMENTS]


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
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: BlindCycleConfig, body: Interface) -> Layout:
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
        return Layout(rows.ravel(), np.array([len(rows), body.action_width, 0, 0], dtype=np.int64), 0)


def _check(segment: tuple[float, ...], body: Interface) -> None:
    ticks, *levels = segment
    if ticks < 1 or ticks != math.floor(ticks):
        raise ValueError(f"segment {segment} lasts {ticks:g} ticks: give a whole number from 1 on")
    for level in levels:
        if body.choices and not (0 <= level < body.choices and level == math.floor(level)):
            raise ValueError(f"segment {segment}: {level:g} is none of the actions 0 to {body.choices - 1}")
        if body.effectors and not 0.0 <= level <= 1.0:
            raise ValueError(f"segment {segment}: an effector of {level:g} is outside of [0, 1]")
