"""Worlds that play by themselves while they are drawn."""

import numpy as np

from nematodebench.drawing.frames import capture
from nematodebench.drawing.render import Renderer
from nematodebench.kernels.rng import RNG_WORDS
from nematodebench.tasks.registry import all_tasks
from nematodebench.worlds.arrays import WorldArrays


def worlds():
    """One world of every class, as a task uses it."""
    found = {}
    for task in all_tasks().values():
        for phase in task.phases:
            found.setdefault(type(phase.world), phase.world)
    return list(found.values())


def played(world, steps, seed=3):
    """The frames of the first steps of an episode, by the world's reference or at random."""
    arrays = WorldArrays(world)
    arrays.compile()
    arrays.begin(seed, 0)
    rng, dice = np.zeros(RNG_WORDS, dtype=np.uint64), np.random.default_rng(0)
    frames = [capture(arrays)]
    for _ in range(steps):
        if world.reference is not None:
            arrays.refer(rng)
        else:
            arrays.action[0] = dice.random(arrays.action[0].shape)
        arrays.step()
        frames.append(capture(arrays))
        if arrays.done():
            break
    return frames


def drawn(world, frames, width=300, theme="light", caption=""):
    """The picture of the last frame."""
    renderer = Renderer(world, width, theme, caption)
    for frame in frames:
        renderer.see(frame)
    return renderer.pixels(frames[-1])
