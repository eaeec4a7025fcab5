"""What every world must keep, as a suite of tests to subclass.

class TestMyWorld(WorldSuite):
    world = MyWorld()
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nematodebench.drawing.frames import capture
from nematodebench.drawing.show import still
from nematodebench.kernels.abi import Outcome
from nematodebench.kernels.scene import KINDS, ROLES, ROWS
from nematodebench.testing.guards import Guarded
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import World

__all__ = ["WorldSuite"]

_HELD = 25


class _Play:
    """A world with guarded arrays of its own, stepped by hand. What reset and step must fill begins as NaN."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.guards: list[Guarded] = []
        self.arrays = WorldArrays(world, allocate=self._guarded)
        self.arrays.compile()
        self.choices, self.params = self.arrays.choices, self.arrays.params
        self.state, self.rng, self.out = self.arrays.states[0], self.arrays.rng[0], self.arrays.outs[0]
        self.action, self.obs = self.arrays.action[0], self.arrays.obs[0]
        self.state[:] = self.obs[:] = self.out[:] = np.nan

    def _guarded(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.guards.append(Guarded(shape, dtype))
        return self.guards[-1].array

    def begin(self, seed: int, episode: int = 0) -> "_Play":
        self.arrays.begin(seed, episode)
        return self

    def step(self, action: NDArray[np.float32]) -> None:
        self.action[:] = action
        self.arrays.step()

    def refer(self) -> None:
        self.arrays.refer(self.rng.copy())

    @property
    def ended(self) -> bool:
        return self.arrays.done()

    def seen(self) -> bytes:
        """All that a brain and the records get to see; metrics count when the episode ends."""
        until = self.out.size if self.ended else self.out.size - len(self.world.metrics)
        return bytes(self.obs.tobytes() + self.out[:until].tobytes())

    def copy(self) -> "_Play":
        """The same moment in arrays with another past: only what a world is said to remember is taken along."""
        other = _Play(self.world).begin(seed=99)
        other.state[:], other.rng[:] = self.state, self.rng
        return other


def _actions(play: _Play, seed: int, held: int) -> Iterator[NDArray[np.float32]]:
    """Random actions, each held for some steps; effectors are often at the ends of their range."""
    numbers = np.random.default_rng(seed)
    while True:
        if play.choices:
            action = numbers.integers(play.choices, size=play.action.shape).astype(np.float32)
        else:
            action = np.clip(numbers.uniform(-0.5, 1.5, play.action.shape), 0.0, 1.0).astype(np.float32)
        for _ in range(held):
            yield action


@dataclass(frozen=True)
class _Episodes:
    """What was seen in some episodes of random play: rows of observations and of ``out``."""

    obs: NDArray[np.float32]
    out: NDArray[np.float64]
    ends: int
    overwritten: int


@cache
def _random_episodes(world: World, episodes: int, max_steps: int) -> _Episodes:
    """Plays episodes with actions that change every step, or (every other episode) are held for a while."""
    play, ends = _Play(world), 0
    obs, out = [], []
    for episode in range(episodes):
        play.begin(seed=1, episode=episode)
        actions = _actions(play, episode, _HELD if episode % 2 else 1)
        steps = 0
        while not play.ended and steps < max_steps:
            obs.append(play.obs.copy())
            out.append(play.out.copy())
            play.step(next(actions))
            steps += 1
        obs.append(play.obs.copy())
        out.append(play.out.copy())
        ends += play.ended
    overwritten = sum(not guard.intact for guard in play.guards)
    return _Episodes(np.concatenate(obs), np.array(out), ends, overwritten)


class WorldSuite:
    """Subclass it with a name that begins with ``Test`` and set ``world``."""

    world: ClassVar[World]
    episodes: ClassVar[int] = 2
    """Episodes of random play."""
    max_steps: ClassVar[int] = 20_000
    """An episode that is longer counts as endless."""

    def _episodes(self) -> _Episodes:
        return _random_episodes(self.world, self.episodes, self.max_steps)

    def test_sensors_are_declared(self) -> None:
        """Every sensor has a name of its own and a finite range."""
        sensors = self.world.sensors
        assert sensors
        assert len({sensor.name for sensor in sensors}) == len(sensors)
        for sensor in sensors:
            assert math.isfinite(sensor.low)
            assert math.isfinite(sensor.high)
            assert sensor.low < sensor.high

    def test_actions_are_declared(self) -> None:
        """Every action or effector has a name of its own."""
        names = self.world.actions.names
        assert self.world.actions.n == len(names) == len(set(names)) >= 1
        assert self.world.agents >= 1

    def test_metrics_are_declared(self) -> None:
        """Every metric has a name of its own that no column of the records has already."""
        names = ("reward", "steps", "terminated", "truncated", *self.world.metrics)
        assert len(set(names)) == len(names)

    def test_specification_is_plain_data(self) -> None:
        """The specification survives JSON: a task's hash is taken of it."""
        spec = dict(self.world.spec())
        assert spec["world"] == self.world.name
        assert json.loads(json.dumps(spec, allow_nan=False)).keys() == spec.keys()

    def test_observations_stay_in_their_ranges(self) -> None:
        """Whatever is done, every sensor shows a finite number of its range."""
        obs = self._episodes().obs
        for n, sensor in enumerate(self.world.sensors):
            low, high = np.float32(sensor.low), np.float32(sensor.high)
            outside = obs[~((obs[:, n] >= low) & (obs[:, n] <= high)), n]
            assert outside.size == 0, f"{sensor.name} in [{low}, {high}] showed {outside[:5]}"

    def test_rewards_flags_and_metrics_are_finite(self) -> None:
        """All of ``out`` holds numbers after every step: a budget of ticks can cut an episode short anywhere."""
        out = self._episodes().out
        assert np.isfinite(out).all()
        assert {flag for row in out for flag in (Outcome(row).terminated, Outcome(row).truncated)} <= {0.0, 1.0}

    def test_every_episode_ends(self) -> None:
        """No episode goes on for ever."""
        assert self._episodes().ends == self.episodes

    def test_no_episode_is_over_when_it_begins(self) -> None:
        """Reset takes back the flags of the episode before."""
        play = _Play(self.world).begin(seed=2)
        for _, action in zip(range(self.max_steps), _actions(play, 0, 1), strict=False):
            if play.ended:
                break
            play.step(action)
        assert not play.begin(seed=2, episode=1).ended

    def test_reset_is_a_function_of_the_stream(self) -> None:
        """An episode depends on its stream alone, not on what came before it."""
        fresh, used = _Play(self.world).begin(seed=3), _Play(self.world).begin(seed=4)
        for action, _ in zip(_actions(used, 0, 1), range(40), strict=False):
            used.step(action)
        used.begin(seed=3)
        assert used.state.tobytes() == fresh.state.tobytes()
        assert self._continued(used) == self._continued(fresh)

    def test_a_copied_state_continues_identically(self) -> None:
        """State and random stream are all that a world remembers."""
        play = _Play(self.world).begin(seed=5)
        for action, _ in zip(_actions(play, 0, 1), range(20), strict=False):
            if play.ended:
                play.begin(seed=5, episode=1)
            play.step(action)
        assert self._continued(play.copy()) == self._continued(play)

    def test_parameters_are_a_function_of_the_world(self) -> None:
        """``pack`` gives the same finite numbers every time, in an array of its own."""
        first, second = self.world.pack(), self.world.pack()
        assert first.dtype == np.float64
        assert first.ndim == 1
        assert first.tobytes() == second.tobytes()

    def test_parameters_and_actions_are_never_written(self) -> None:
        """Parameters are shared by all runs, and the action is the brain's."""
        packed, play = self.world.pack().tobytes(), _Play(self.world).begin(seed=6)
        for action, _ in zip(_actions(play, 0, 1), range(100), strict=False):
            if play.ended:
                play.begin(seed=6, episode=1)
            play.step(action)
            assert play.action.tobytes() == action.tobytes()
        assert play.params.tobytes() == packed

    def test_nothing_outside_its_arrays_is_written(self) -> None:
        """The strips around every array stay as they were."""
        assert self._episodes().overwritten == 0

    def test_the_reference_acts_legally(self) -> None:
        """A scripted controller gives legal actions, and asking it does not change the world's course."""
        if type(self.world).reference is None:
            pytest.skip("this world has no reference")
        asked, unasked = _Play(self.world).begin(seed=7), _Play(self.world).begin(seed=7)
        for _ in range(50):
            asked.refer()
            assert _legal(asked)
            for play in (asked, unasked):
                play.step(asked.action.copy())
            assert asked.seen() == unasked.seen()
            if asked.ended:
                break

    def test_it_can_be_shown(self) -> None:
        """As text and as a picture, and looking at it changes nothing."""
        play = _Play(self.world).begin(seed=8)
        assert play.arrays.text()
        before = play.seen() + play.state.tobytes()
        image = still(play.arrays, "rgb_array")
        assert play.seen() + play.state.tobytes() == before, "the scene wrote to what it should only read"
        assert image.dtype == np.uint8
        assert image.ndim == 3
        assert image.shape[2] == 3
        _check_scene(play)

    def _continued(self, play: _Play) -> list[bytes]:
        """What is seen from here to the episode's end."""
        actions, seen = _actions(play, 9, 1), list[bytes]()
        while len(seen) < self.max_steps:
            play.step(next(actions))
            seen.append(play.seen())
            if play.ended:
                break
        return seen


def _check_scene(play: _Play) -> None:
    """The rows of a scene are of known kinds and roles, within what there is room for, and numbers."""
    frame = capture(play.arrays)
    assert len(frame.rows) < ROWS - 1, "the scene writes more rows than there is room for"
    assert np.isfinite(frame.rows).all()
    assert np.isin(frame.rows[:, 0], np.arange(len(KINDS))).all()
    assert np.isin(frame.rows[:, 1], np.arange(len(ROLES))).all()
    if frame.field is not None:
        assert ((frame.field >= 0.0) & (frame.field <= 1.0)).all()


def _legal(play: _Play) -> bool:
    action: Any = play.action
    if play.choices:
        return bool(((action >= 0) & (action < play.choices) & (action == np.floor(action))).all())
    return bool(((action >= 0.0) & (action <= 1.0)).all())
