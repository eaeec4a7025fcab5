"""What holds for every world of the family: ranges, determinism, the contract of its arrays, pictures."""

import numpy as np
import pytest
from harness_control import Life, live, null

from nematodebench.worlds.control.cartpole import Cartpole, CartpoleSwingup
from nematodebench.worlds.control.pong import Pong
from nematodebench.worlds.control.rhythm import Rhythm
from nematodebench.worlds.control.tracking import Tracking
from nematodebench.worlds.control.wall import Wall
from nematodebench.worlds.swarm.swarm import Forage, Torus

WIDTHS = {
    Wall: (2, 2), Tracking: (62, 2), Pong: (46, 2), Cartpole: (8, 2), CartpoleSwingup: (8, 2), Rhythm: (2, 2),
    Torus: (64, 3), Forage: (128, 3),
}  # fmt: skip
every_world = pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.name)


@every_world
def test_inputs_and_effectors(kind):
    world = kind()
    assert (len(world.sensors), world.actions.n) == WIDTHS[kind]
    assert len({sensor.name for sensor in world.sensors}) == len(world.sensors)


@every_world
def test_observations_stay_in_their_ranges(kind):
    metrics, ticks, outside = live(kind(), null, seed=11, episodes=3, check_range=True)
    assert ticks > 0
    assert outside == 0
    assert np.isfinite(metrics).all()


@every_world
def test_the_same_seed_gives_the_same_bits(kind):
    assert live(kind(), null, seed=5, episodes=2)[0].tobytes() == live(kind(), null, seed=5, episodes=2)[0].tobytes()


@every_world
def test_another_seed_gives_another_life(kind):
    assert live(kind(), null, seed=5, episodes=2)[0].tobytes() != live(kind(), null, seed=6, episodes=2)[0].tobytes()


@every_world
def test_a_reset_forgets_the_life_before(kind):
    fresh, used = Life(kind(), 3), Life(kind(), 2)
    used.action[:] = 0.6
    for _ in range(10):
        used.step()
    used.start(3)
    assert fresh.state.tobytes() == used.state.tobytes()
    assert fresh.obs.tobytes() == used.obs.tobytes()
    assert fresh.out.tobytes() == used.out.tobytes()


@every_world
def test_everything_is_finite_when_a_life_is_cut_short(kind):
    life = Life(kind())
    for _ in range(3):
        life.step()
        assert np.isfinite(life.out).all()
        assert np.isfinite(life.obs).all()


@every_world
def test_truncated_at_the_horizon(kind):
    life = Life(kind(ticks=70, window=70))
    for _ in range(69):
        life.refer() if kind.reference else life.step()
        assert not life.done
    life.refer() if kind.reference else life.step()
    assert (life.out[0], life.out[1]) == (0.0, 1.0)


@every_world
def test_pictures(kind):
    life = Life(kind())
    image = life.world.image(life.state)
    assert image.dtype == np.uint8
    assert image.shape[1:] == (300, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) >= 2
    assert life.world.text(life.state).startswith("tick 0")


@every_world
def test_spec_holds_every_parameter(kind):
    spec = kind().spec()
    assert spec["world"] == kind.name
    assert {"ticks", "window"} <= set(spec)
