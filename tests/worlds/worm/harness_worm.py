"""A worm world held in the hand: put things where a test wants them, step, look."""

import hashlib

import numpy as np

from nematodebench.kernels.abi import OUT_REWARD, WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream
from nematodebench.worlds.worm import body as worm

FORWARD, LEFT, RIGHT, STAY = 0, 1, 2, 3
UP, EAST, DOWN, WEST = 0, 1, 2, 3


class Arena:
    def __init__(self, world, seed=0, episode=0):
        self.world = world
        first_class(world.reset, WORLD)
        first_class(world.step, WORLD)
        self.params = world.pack()
        self.state = np.zeros(world.state_size)
        self.rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        self.action = np.zeros((1, 1), dtype=np.float32)
        self.obs = np.zeros((1, len(world.sensors)), dtype=np.float32)
        self.out = np.zeros(world.out_size)
        self.begin(seed, episode)

    def begin(self, seed, episode=0):
        set_stream(self.rng, np.uint64(seed), STREAM_WORLD, episode, 0)
        self.world.reset(self.params, self.state, self.rng, self.action, self.obs, self.out)

    def step(self, action):
        self.action[0, 0] = action
        self.world.step(self.params, self.state, self.rng, self.action, self.obs, self.out)
        return self

    def put_worm(self, x, y, heading=UP):
        self.state[[worm.S_X, worm.S_Y, worm.S_HEADING]] = x, y, heading
        self._remember_nearest()

    def put_foods(self, *cells):
        self.foods[:] = cells
        self._remember_nearest()

    def _remember_nearest(self):
        self.state[worm.S_NEAREST] = np.abs(self.foods - self.place).sum(axis=1).min()

    @property
    def foods(self):
        count = int(self.params[worm.P_FOOD])
        return self.state[worm.S_FOOD : worm.S_FOOD + 2 * count].reshape(-1, 2)

    @property
    def predators(self):
        return self.state[worm.S_FOOD + self.foods.size :].reshape(-1, 2)

    @property
    def place(self):
        return self.state[[worm.S_X, worm.S_Y]]

    @property
    def heading(self):
        return int(self.state[worm.S_HEADING])

    @property
    def satiety(self):
        return self.state[worm.S_SATIETY]

    @property
    def reward(self):
        return self.out[OUT_REWARD]

    @property
    def terminated(self):
        return self.out[0] == 1.0

    @property
    def truncated(self):
        return self.out[1] == 1.0

    @property
    def ended(self):
        return self.terminated or self.truncated

    @property
    def metrics(self):
        return dict(zip(self.world.metrics, self.out[OUT_REWARD + 1 :], strict=True))

    @property
    def termination(self):
        return self.world.terminations[int(self.metrics["termination"]) - 1]

    def sense(self, name):
        return float(self.obs[0, [sensor.name for sensor in self.world.sensors].index(name)])


def random_life(world, steps, seed=0):
    """Yields the arena after every step of random actions, episodes following one another."""
    arena = Arena(world, seed)
    episode = 0
    for action in np.random.default_rng(seed).integers(0, 4, steps):
        if arena.ended:
            episode += 1
            arena.begin(seed, episode)
        yield arena.step(action)


def digest(world, steps=3000, seed=11):
    """Hash of everything a brain and the records see of a random life."""
    found = hashlib.sha256()
    for arena in random_life(world, steps, seed):
        found.update(arena.obs.tobytes() + arena.out.tobytes())
    return found.hexdigest()[:16]


def odour_gradient(sources, place, decay):
    """Vector sum of exp(-d/decay) unit vectors, by NumPy."""
    away = np.asarray(sources, dtype=float) - place
    distance = np.hypot(away[:, 0], away[:, 1])
    near = distance > 0
    return (away[near] / distance[near, None] * np.exp(-distance[near, None] / decay)).sum(axis=0)


def relative(gradient, heading):
    """Sine (+ = right) and cosine of a direction relative to the heading."""
    ahead = {UP: (0, 1), EAST: (1, 0), DOWN: (0, -1), WEST: (-1, 0)}[heading]
    angle = np.arctan2(ahead[1], ahead[0]) - np.arctan2(gradient[1], gradient[0])
    return np.sin(angle), np.cos(angle)
