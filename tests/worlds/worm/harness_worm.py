"""A worm world held in the hand: put things where a test wants them, step, look."""

import hashlib

import numpy as np

from nematodebench.worlds.arrays import WorldArrays

FORWARD, LEFT, RIGHT, STAY = 0, 1, 2, 3
UP, EAST, DOWN, WEST = 0, 1, 2, 3


class Arena:
    def __init__(self, world, seed=0, episode=0):
        self.world, self.arrays = world, WorldArrays(world)
        self.arrays.compile()
        self.obs = self.arrays.obs[0]
        self.begin(seed, episode)

    def begin(self, seed, episode=0):
        self.arrays.begin(seed, episode)

    def step(self, action):
        self.arrays.action[:] = action
        self.arrays.step()
        return self

    def put_worm(self, x, y, heading=UP):
        state = self.state
        state.x, state.y, state.heading = x, y, heading
        self._remember_nearest()

    def put_foods(self, *cells):
        self.foods[:] = cells
        self._remember_nearest()

    def _remember_nearest(self):
        self.state.nearest = np.abs(self.foods - self.place).sum(axis=1).min()

    @property
    def state(self):
        return self.arrays.state()

    @property
    def foods(self):
        return self.state.food

    @property
    def predators(self):
        return self.state.predator

    @property
    def place(self):
        return np.array([self.state.x, self.state.y])

    @property
    def heading(self):
        return int(self.state.heading)

    @property
    def satiety(self):
        return self.state.satiety

    @property
    def reward(self):
        return self.arrays.outcome().reward[0]

    @property
    def terminated(self):
        return self.arrays.outcome().terminated == 1.0

    @property
    def truncated(self):
        return self.arrays.outcome().truncated == 1.0

    @property
    def ended(self):
        return self.arrays.done()

    @property
    def metrics(self):
        return self.arrays.metrics()

    @property
    def termination(self):
        return self.world.terminations[int(self.metrics["termination"]) - 1]

    def sense(self, name):
        return float(self.obs[0, [sensor.name for sensor in self.world.sensors].index(name)])


def random_steps(world, steps, seed=0):
    """Yields the arena after every step of random actions, episodes following one another."""
    arena = Arena(world, seed)
    episode = 0
    for action in np.random.default_rng(seed).integers(0, 4, steps):
        if arena.ended:
            episode += 1
            arena.begin(seed, episode)
        yield arena.step(action)


def digest(world, steps=3000, seed=11):
    """Hash of everything a brain and the records see of random steps."""
    found = hashlib.sha256()
    for arena in random_steps(world, steps, seed):
        found.update(arena.obs.tobytes() + arena.arrays.outs.tobytes())
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
