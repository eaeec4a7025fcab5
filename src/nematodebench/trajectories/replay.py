"""Episodes of a run shown again: the moments that were kept, as frames that a renderer draws."""

from collections.abc import Iterator

from nematodebench.drawing.frames import Frame, capture
from nematodebench.engine.tracing import TracedEpisode
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["frames_of", "texts_of"]


def _moments(episode: TracedEpisode) -> Iterator[WorldArrays]:
    """The world's arrays as they were at every moment of an episode."""
    world = episode.phase.world
    arrays = WorldArrays(world, inputs=episode.observation.shape[2])
    for moment in range(episode.steps + 1):
        arrays.states[0], arrays.obs[0] = episode.state[moment], episode.observation[moment]
        if moment:
            # A body may have more effectors than this world takes.
            arrays.action[0] = episode.action[moment - 1][:, : arrays.action.shape[2]]
            arrays.outs[0] = episode.outcome[moment - 1]
        yield arrays


def frames_of(episode: TracedEpisode) -> Iterator[Frame]:
    """What the world's scene writes of every moment: of the start, then of every step."""
    for arrays in _moments(episode):
        yield capture(arrays)


def texts_of(episode: TracedEpisode) -> Iterator[str]:
    """The world as text at every moment."""
    for arrays in _moments(episode):
        yield arrays.text()
