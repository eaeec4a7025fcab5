"""What holds for every world of the family: ranges, determinism, the contract of its arrays, pictures."""

import numpy as np
import pytest
from harness_control import Episode, null, run_episodes

from nematodebench.worlds.control.cartpole import Cartpole, CartpoleSwingup, CartpoleUpright
from nematodebench.worlds.control.pong import Pong
from nematodebench.worlds.control.rhythm import Rhythm
from nematodebench.worlds.control.tracking import Tracking
from nematodebench.worlds.control.wall import Wall
from nematodebench.worlds.plate.aerotaxis import PlateAerotaxis
from nematodebench.worlds.plate.chemotaxis import PlateChemotaxis
from nematodebench.worlds.plate.thermotaxis import PlateThermotaxis
from nematodebench.worlds.swarm.forage import Forage
from nematodebench.worlds.swarm.torus import Torus

WIDTHS = {
    Wall: (2, 2), Tracking: (62, 2), Pong: (46, 2), Cartpole: (8, 2), CartpoleSwingup: (8, 2), CartpoleUpright: (8, 2),
    Rhythm: (2, 2), Torus: (64, 3), Forage: (128, 3), PlateChemotaxis: (6, 3), PlateAerotaxis: (6, 3),
    PlateThermotaxis: (6, 3),
}  # fmt: skip
every_world = pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.name)


@every_world
def test_inputs_and_effectors(kind):
    world = kind()
    assert (len(world.sensors), world.actions.n) == WIDTHS[kind]
    assert len({sensor.name for sensor in world.sensors}) == len(world.sensors)


@every_world
def test_observations_stay_in_their_ranges(kind):
    metrics, ticks, outside = run_episodes(kind(), null, seed=11, episodes=3, check_range=True)
    assert ticks > 0
    assert outside == 0
    assert np.isfinite(metrics).all()


@every_world
def test_the_same_seed_gives_the_same_bits(kind):
    assert (
        run_episodes(kind(), null, seed=5, episodes=2)[0].tobytes()
        == run_episodes(kind(), null, seed=5, episodes=2)[0].tobytes()
    )


@every_world
def test_another_seed_gives_another_course(kind):
    assert (
        run_episodes(kind(), null, seed=5, episodes=2)[0].tobytes()
        != run_episodes(kind(), null, seed=6, episodes=2)[0].tobytes()
    )


@every_world
def test_a_reset_forgets_the_episode_before(kind):
    fresh, used = Episode(kind(), 3), Episode(kind(), 2)
    used.action[:] = 0.6
    for _ in range(10):
        used.step()
    used.start(3)
    assert fresh.arrays.states.tobytes() == used.arrays.states.tobytes()
    assert fresh.obs.tobytes() == used.obs.tobytes()
    assert fresh.arrays.outs.tobytes() == used.arrays.outs.tobytes()


@every_world
def test_everything_is_finite_when_an_episode_is_cut_short(kind):
    episode = Episode(kind())
    for _ in range(3):
        episode.step()
        assert np.isfinite(episode.arrays.outs).all()
        assert np.isfinite(episode.obs).all()


@every_world
def test_truncated_at_the_horizon(kind):
    episode = Episode(kind(ticks=70, window=70))
    for _ in range(69):
        episode.refer() if kind.reference else episode.step()
        assert not episode.done
    episode.refer() if kind.reference else episode.step()
    assert episode.flags == (0.0, 1.0)


@every_world
def test_text(kind):
    episode = Episode(kind())
    assert episode.world.text(episode.state).startswith("tick 0")


@every_world
def test_spec_holds_every_parameter(kind):
    spec = kind().spec()
    assert spec["world"] == kind.name
    assert {"ticks", "window"} <= set(spec)
