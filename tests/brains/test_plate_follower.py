"""Brain `plate_follower`: the reference of the plates, on the sensors that every brain has."""

import pytest

import nematodebench as nb
from nematodebench.brains.base import Interface
from nematodebench.brains.scripted.plate_follower import PlateFollower, PlateFollowerConfig


@pytest.mark.parametrize("task", ["plate_chemotaxis", "plate_aerotaxis", "plate_thermotaxis"])
def test_it_finds_what_is_wanted_and_turns_when_things_get_worse(task):
    metrics = nb.run(f"{task}_untrained-v1", "plate_follower", runs=10, seed=4, workers=1).metrics
    assert metrics.index.mean > 0.95
    assert metrics.klinokinesis.ci95[0] > 0.05
    assert metrics.weathervane.ci95[0] > 0.0


def test_a_worm_that_remembers_something_else_does_not_find_it():
    """It averages also what it senses after its release, and takes the plate's centre for what it wants."""
    metrics = nb.run(
        "plate_thermotaxis_untrained-v1", "plate_follower", runs=20, seed=4, workers=1, config={"held": 200}
    ).metrics
    assert metrics.index.mean < 0.6


def test_another_body_is_refused():
    body = Interface(("smell", "touch"), (0.0,) * 2, (1.0,) * 2, 0, 3)
    with pytest.raises(ValueError, match="needs the sensors smell, oxygen, temperature"):
        PlateFollower.sizes(PlateFollowerConfig(), body)
