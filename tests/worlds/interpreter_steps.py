"""Steps worlds and records all that comes of it; as a script, as JSON on standard output, for another process."""

import json
import sys

import numpy as np

from nematodebench.kernels.jit import INTERPRETED
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, set_stream
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.cognition.association import Association
from nematodebench.worlds.cognition.bit_memory import BitMemory
from nematodebench.worlds.cognition.pattern_memory import PatternMemory
from nematodebench.worlds.cognition.prediction import Prediction
from nematodebench.worlds.control.cartpole import Cartpole, CartpoleSwingup, CartpoleUpright
from nematodebench.worlds.control.pong import Pong
from nematodebench.worlds.control.rhythm import Rhythm
from nematodebench.worlds.control.tracking import Tracking
from nematodebench.worlds.control.wall import Wall
from nematodebench.worlds.grid.gridworld import Gridworld
from nematodebench.worlds.grid.navigation import Navigation
from nematodebench.worlds.grid.realtime import Realtime
from nematodebench.worlds.plate.aerotaxis import PlateAerotaxis
from nematodebench.worlds.plate.chemotaxis import PlateChemotaxis
from nematodebench.worlds.plate.thermotaxis import PlateThermotaxis
from nematodebench.worlds.swarm.forage import Forage
from nematodebench.worlds.swarm.torus import Torus
from nematodebench.worlds.worm.chemotaxis import Chemotaxis
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator

STEPS = 50
# Short horizons let an episode end within the steps, so that its metrics are compared too.
WORLDS = {
    "association": Association(),
    "bit_memory": BitMemory(delay=3),
    "cartpole": Cartpole(ticks=40, window=30),
    "cartpole_swingup": CartpoleSwingup(ticks=40, window=30),
    "cartpole_upright": CartpoleUpright(ticks=40, window=30, start_angle=3.14),
    "chemotaxis": Chemotaxis(max_steps=40),
    "chemotaxis_hunted": Chemotaxis(max_steps=40, sensing="temporal", with_predator_inputs=True),
    "forage": Forage(n_agents=3, ticks=40, window=30),
    "foraging": Foraging(side=9, foods=8, spacing=1.5, exclusion=2.0, max_steps=40),
    "foraging_klinotaxis": Foraging(sensing="klinotaxis", satiety=30),
    "foraging_temporal": Foraging(sensing="temporal", max_steps=40),
    "foraging_anywhere": Foraging(sensing="concentration", max_steps=40, shaping=0.0, random_start=True),
    "gridworld": Gridworld(),
    "navigation": Navigation(),
    "navigation_hard": Navigation.hard(),
    "pattern_memory": PatternMemory(),
    "plate_aerotaxis": PlateAerotaxis(ticks=40, window=30),
    "plate_chemotaxis": PlateChemotaxis(ticks=40, window=30, radius=2.0, nearest=1.0, farthest=2.0, zone=0.5),
    "plate_thermotaxis": PlateThermotaxis(ticks=40, window=30, held=5, radius=3.0, zone=1.5),
    "pong": Pong(ticks=40, window=30),
    "pong_random_rebound": Pong(ticks=40, window=30, random_rebound=True),
    "predator": Predator(side=9, foods=8, spacing=1.5, exclusion=2.0, predators=4, detection=3),
    "prediction_sine": Prediction(),
    "prediction_square": Prediction("square"),
    "prediction_random_walk": Prediction("random_walk"),
    "realtime": Realtime(),
    "rhythm": Rhythm(shortest=4, longest=9, ticks=40, window=30),
    "torus": Torus(n_agents=3, ticks=40, window=30),
    "tracking": Tracking(ticks=40, window=30),
    "wall": Wall(side=4.0, ticks=40, window=30),
    "wall_noisy": Wall(
        side=4.0, ticks=40, window=30, random_start=True, heading_noise=0.5, bump_weight=1.0, bump_cost=1.0
    ),
}


def steps(world):
    """Action, observation, outcome and state after every step as hexadecimal digits, the episode's beginning first.

    Every second action is that of the reference, if there is one; the others are random.
    """
    arrays, generator = WorldArrays(world), np.random.default_rng(3)
    own = np.zeros(RNG_WORDS, np.uint64)
    set_stream(own, np.uint64(5), STREAM_EXPLORATION, 0, 0)
    arrays.begin(5, episode=0)
    recorded = [_record(arrays)]
    for step in range(STEPS):
        if world.reference is not None and step % 2:
            world.reference(arrays.params, arrays.states[0], own, arrays.action[0], arrays.obs[0], arrays.outs[0])
        elif arrays.choices:
            arrays.action[0] = generator.integers(arrays.choices, size=arrays.action[0].shape)
        else:
            arrays.action[0] = generator.random(arrays.action[0].shape)
        arrays.step()
        recorded.append(_record(arrays))
        if arrays.done():
            arrays.begin(5, episode=step + 1)
            recorded.append(_record(arrays))
    return recorded


def _record(arrays):
    parts = {"action": arrays.action, "observation": arrays.obs, "outcome": arrays.outs, "state": arrays.states}
    return {name: part.tobytes().hex() for name, part in parts.items()}


if __name__ == "__main__":
    json.dump({"interpreted": INTERPRETED, **{name: steps(world) for name, world in WORLDS.items()}}, sys.stdout)
