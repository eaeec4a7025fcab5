"""Plates: an independent version step by step, what the zones and the gait mean, and what chance scores."""

import numpy as np
import pytest
from harness_control import Episode, constant, mean_and_error, null, run_episodes, run_scores
from plate_port import Oxygen, Smell, Warmth, course

from nematodebench.worlds.plate.aerotaxis import PlateAerotaxis
from nematodebench.worlds.plate.chemotaxis import PlateChemotaxis
from nematodebench.worlds.plate.thermotaxis import PlateThermotaxis

PORTS = {PlateChemotaxis: Smell, PlateAerotaxis: Oxygen, PlateThermotaxis: Warmth}
every_plate = pytest.mark.parametrize("kind", PORTS, ids=lambda kind: kind.name)


@every_plate
@pytest.mark.parametrize("seed", range(4))
def test_an_episode_is_that_of_an_independent_version(kind, seed):
    """Straight ways, circles, and turns of every kind, so that the rim is reached and all zones are crossed."""
    dice, ticks = np.random.default_rng(seed), kind().ticks
    bend = np.repeat(dice.uniform(0, 0.6, (ticks // 30, 2)), 30, axis=0) * (seed != 0)
    effectors = np.column_stack([dice.uniform(0.5, 1, ticks), bend]).astype(np.float32)
    observations, rewards, place, heading, metrics = course(PORTS[kind], seed, effectors)
    episode = Episode(kind(), seed)
    assert episode.obs[0] == pytest.approx(observations[0], abs=1e-5)
    touched = 0.0
    for row, seen, reward in zip(effectors, observations[1:], rewards, strict=True):
        assert not episode.done
        assert episode.step(*row).reward == pytest.approx(reward, abs=1e-6)
        assert episode.obs[0] == pytest.approx(seen, abs=1e-5)
        touched += episode.obs[0, 5]
    assert episode.flags == (0.0, 1.0)
    assert episode.read("x", "y") == pytest.approx(place, abs=1e-6)
    assert np.cos(episode.state.heading - heading) == pytest.approx(1.0)
    assert episode.metrics == pytest.approx(metrics, abs=1e-6)
    assert touched > 0 or seed != 0


@every_plate
def test_chance_and_rest_score_nothing(kind):
    """The floor of the chamber is measured; on round plates the mirror image makes it 0."""
    assert (run_episodes(kind(), constant, seed=1, episodes=20)[0][:, 0] == 0.0).all()
    mean, error = mean_and_error(run_scores(kind(), null, 200))
    assert mean == pytest.approx(0.25 if kind is PlateAerotaxis else 0.0, abs=4 * error)


@every_plate
def test_whoever_knows_the_state_is_always_there(kind):
    assert (run_episodes(kind(), kind.reference, seed=1, episodes=20)[0][:, 0] == 1.0).all()


@pytest.mark.parametrize("kind", [PlateChemotaxis, PlateThermotaxis])
@pytest.mark.parametrize("effectors", [(1.0, 0.0, 0.0), (1.0, 0.08, 0.0)])
def test_a_blind_way_is_as_often_in_the_mirror_zone(kind, effectors):
    scores = run_scores(kind(), constant, 200, effectors=effectors)
    mean, error = mean_and_error(scores)
    assert abs(mean) < 4 * error
    assert error > 0


def test_where_things_are_put():
    sources, starts, kept, signs = [], [], [], []
    for seed in range(300):
        plate, chamber, warm = (Episode(kind(), seed) for kind in PORTS)
        sources.append(np.hypot(*plate.read("source_x", "source_y")))
        starts.append([*chamber.read("x", "y"), chamber.state.slope])
        kept.append(warm.state.kept - 20)
        signs.append(np.arctan2(warm.state.warm_y, warm.state.warm_x))
    x, y, slope = np.array(starts).T
    assert 12 <= min(sources) < 12.2 and 19.8 < max(sources) <= 20
    assert np.abs(x).min() >= 12.375 and np.abs(x).max() <= 16.5 and np.abs(y).max() <= 7.5
    assert {round(s, 6) for s in slope} == {round(10.5 / 16.5, 6), round(-10.5 / 16.5, 6)}
    assert np.abs(kept).min() >= 1.5 and np.abs(kept).max() <= 3
    for coin in (x > 0, slope > 0, np.array(kept) > 0, np.array(signs) > 0, x * slope > 0):
        assert 100 < coin.sum() < 200


def test_a_held_worm_senses_what_it_is_to_remember_and_cannot_move():
    episode = Episode(PlateThermotaxis(noise=0.0), 5)
    kept, heading = (episode.state.kept - 14) / 12, episode.state.heading
    for _ in range(39):
        assert episode.obs[0] == pytest.approx([kept, 0, 0, 0, 0, 0], abs=1e-6)
        episode.step(1.0, 1.0, 0.0)
        assert episode.reward == 0.0
    assert episode.obs[0, 0] == pytest.approx(kept)
    episode.step(1.0, 1.0, 0.0)
    assert episode.obs[0, 0] == pytest.approx(0.5)
    assert (*episode.read("x", "y"), episode.state.heading) == (0.0, 0.0, heading)
    assert episode.step(1.0, 0.0, 0.0).reward > 0.0
    assert np.hypot(*episode.read("x", "y")) == pytest.approx(0.2)
