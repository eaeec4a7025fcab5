"""Input-blind policies to begin a search with, and ways to vary them.

| family | what it is | what it is good for |
|---|---|---|
| constants | one action for ever | the simplest policy there is |
| lawn-mowers | a straight way, a turn, a step aside, a turn, back again | areas to be swept |
| closed walks | through every cell of a square, always in the same order | places where things reappear |
| spirals and loops | straight ways that grow, or stay the same, with turns between them | the same |
| bang-bang | two actions in turn, of equal or of slightly different lengths | resonance |
| waves | effectors that rise and fall, each with its phase | smooth curves |
| blocks | many actions of one length each | worlds that repeat themselves after a fixed time |
| holds | short moves with long rests after them, in blocks of one length | the same, with a place to be held |
| random | a few segments of any length | everything else |
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface
from nematodebench.calibration.rollouts import Cycle
from nematodebench.calibration.tours import tours

__all__ = ["Proposals", "merged"]

_MAX_SEGMENTS = 120
_GRIDS = {2: (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0), 3: (0.0, 0.1, 0.5, 1.0)}
_ASIDE = (0, 1, 2, 3, 4, 5, 7, 9)
_WAVE_STEPS = 16
_FEWEST = 24


def merged(cycle: Cycle) -> Cycle:
    """Joins neighbouring segments of the same action; a constant action lasts one tick."""
    joined = [cycle[0]]
    for segment in cycle[1:]:
        if segment[1:] == joined[-1][1:]:
            joined[-1] = (joined[-1][0] + segment[0], *segment[1:])
        else:
            joined.append(segment)
    return tuple(joined) if len(joined) > 1 else ((1.0, *joined[0][1:]),)


def _round(levels: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(level), 3) for level in np.clip(levels, 0.0, 1.0))


class Proposals:
    """Draws and varies cycles for one body and one length of episodes."""

    def __init__(self, body: Interface, horizon: int, generator: np.random.Generator) -> None:
        self._body, self._horizon, self._generator = body, horizon, generator

    def opening(self, size: int, *, listed: bool) -> list[Cycle]:
        """Policies to begin with: those that can be listed (at most three quarters of all), the rest drawn."""
        structured = self.structured() if listed else []
        most = max(0, 3 * size // 4)
        if len(structured) > most:
            structured = [structured[k] for k in np.sort(self._generator.permutation(len(structured))[:most])]
        drawn = [self.random() for _ in range(max(size - len(structured), _FEWEST))]
        always = [*self.constants(), *tours(self._body.choices, self._horizon)] if listed else []
        return list(dict.fromkeys([*always, *structured, *drawn]))

    def structured(self) -> list[Cycle]:
        """Every policy of the families that can be listed, constants aside."""
        return self._sweeps() if self._body.choices else self._bang_bangs()

    def constants(self) -> list[Cycle]:
        """Every action, or a grid of effector levels."""
        if self._body.choices:
            return [((1.0, float(choice)),) for choice in range(self._body.choices)]
        levels = _GRIDS.get(self._body.effectors, (0.0, 1.0))
        return [((1.0, *row),) for row in itertools.product(levels, repeat=self._body.effectors)]

    def random(self) -> Cycle:
        """A policy of a family that is drawn, too."""
        draws = (
            (self._few, self._few, self._random_sweep, self._spiral)
            if self._body.choices
            else (self._few, self._few, self._uneven_bang_bang, self._wave, self._blocks, self._holds)
        )
        cycle: Cycle = draws[self._generator.integers(len(draws))]()
        return merged(cycle)

    def vary(self, cycle: Cycle) -> Cycle:
        """Changes one thing, sometimes several."""
        for _ in range(1 + self._generator.geometric(0.6)):
            cycle = self._vary_once(cycle)
        return merged(cycle)

    # Sweeps, for bodies that choose.

    def _lengths(self) -> list[int]:
        """Lengths of straight ways: every short one, and longer ones in steps."""
        limit = max(2, self._horizon // 4)
        return sorted({*range(1, min(24, limit)), *(int(n) for n in np.geomspace(24, limit, 10) if limit > 24)})

    def _sweeps(self) -> list[Cycle]:
        cycles: list[Cycle] = []
        for go, turn, back in itertools.permutations(range(min(self._body.choices, 4)), 3):
            for straight in self._lengths():
                cycles += [self._mower(go, turn, back, straight, aside) for aside in _ASIDE]
        for first, second in itertools.permutations(range(self._body.choices), 2):
            cycles += [((float(n), float(first)), (1.0, float(second))) for n in self._lengths()]
        return [merged(cycle) for cycle in cycles]

    @staticmethod
    def _mower(go: int, turn: int, back: int, straight: int, aside: int) -> Cycle:
        step: Cycle = ((float(aside), float(go)),) if aside else ()
        way = (float(straight), float(go))
        there, again = (1.0, float(turn)), (1.0, float(back))
        return (way, there, *step, there, way, again, *step, again)

    def _random_sweep(self) -> Cycle:
        go, turn, back = self._three()
        return self._mower(go, turn, back, int(self._length()), int(self._generator.integers(0, 12)))

    def _three(self) -> tuple[int, int, int]:
        first, second, third = self._generator.permutation(max(3, self._body.choices))[:3] % self._body.choices
        return int(first), int(second), int(third)

    def _spiral(self) -> Cycle:
        """Straight ways that grow by some cells after every turn or every second one."""
        go, turn, _ = self._three()
        grow, every = int(self._generator.integers(1, 7)), int(self._generator.integers(1, 3))
        length, cycle = int(self._generator.integers(1, 6)), []
        for n in range(int(self._generator.integers(4, 24))):
            cycle += [(float(length), float(go)), (1.0, float(turn))]
            length += grow if n % every == every - 1 else 0
        return tuple(cycle)

    # Rhythms, for bodies with effectors.

    def _corners(self) -> list[tuple[float, ...]]:
        return list(itertools.product((0.0, 1.0), repeat=self._body.effectors))

    def _bang_bangs(self) -> list[Cycle]:
        limit = max(2, self._horizon // 2)
        lengths = sorted({*range(1, min(40, limit)), *(int(n) for n in np.geomspace(40, limit, 20) if limit > 40)})
        pairs = list(itertools.permutations(self._corners(), 2))
        return [((float(n), *first), (float(n), *second)) for first, second in pairs for n in lengths]

    def _uneven_bang_bang(self) -> Cycle:
        """Two actions in turn, two to six times, their lengths nearly the same."""
        first, second = (self._levels() for _ in range(2))
        length, spread = self._length(), self._generator.choice([0.05, 0.2, 0.6])
        count = 2 * int(self._generator.integers(1, 4))
        lengths = np.maximum(1.0, np.rint(length * np.exp(self._generator.normal(0.0, spread, count))))
        return tuple((float(n), *(second if k % 2 else first)) for k, n in enumerate(lengths))

    def _wave(self) -> Cycle:
        """Effectors that rise and fall as sines of one period, or of whole parts of it."""
        part = max(1.0, np.rint(self._length() / _WAVE_STEPS))
        size = self._body.effectors
        middle, height = self._generator.uniform(0.0, 1.0, size), self._generator.uniform(0.0, 0.5, size)
        phase, rounds = self._generator.uniform(0.0, 2.0 * np.pi, size), self._generator.integers(1, 4, size)
        times = 2.0 * np.pi * np.arange(_WAVE_STEPS)[:, None] / _WAVE_STEPS
        table = middle + height * np.sin(rounds * times + phase)
        return tuple((float(part), *_round(row)) for row in table)

    def _blocks(self) -> Cycle:
        length = max(1.0, self._length())
        count = int(self._generator.integers(2, max(3, min(60, int(self._horizon / length) + 2))))
        return tuple((length, *self._levels()) for _ in range(count))

    def _holds(self) -> Cycle:
        """Blocks that begin with a short move and go on with a rest."""
        length, rest = max(8.0, self._length()), tuple(0.0 for _ in range(self._body.effectors))
        move = float(self._generator.integers(1, 8))
        count = int(self._generator.integers(2, max(3, min(60, int(self._horizon / length) + 2))))
        blocks = (((move, *self._levels()), (length - move, *rest)) for _ in range(count))
        return tuple(segment for block in blocks for segment in block)

    # What both share.

    def _few(self) -> Cycle:
        """Segments of any length, or a movement that is interrupted again and again."""
        if self._generator.random() < 0.3:
            return (self._segment(), (float(self._generator.integers(1, 6)), *self._segment()[1:]))
        return tuple(self._segment() for _ in range(self._generator.integers(2, 9)))

    def _length(self) -> float:
        return float(np.floor(np.exp(self._generator.uniform(0.0, np.log(self._horizon // 2 + 1.0)))))

    def _segment(self) -> tuple[float, ...]:
        return (self._length(), *self._levels())

    def _levels(self) -> tuple[float, ...]:
        if self._body.choices:
            return (float(self._generator.integers(self._body.choices)),)
        kind = self._generator.random()
        if kind < 0.35:
            return tuple(float(level) for level in self._generator.integers(0, 2, self._body.effectors))
        if kind < 0.65:
            return _round(self._generator.uniform(0.0, 0.2 if kind < 0.45 else 1.0, self._body.effectors))
        # Effectors often work against each other: nearly equal ones make slow, smooth movements.
        common = np.exp(self._generator.uniform(np.log(0.01), 0.0))
        return _round(common * np.exp(self._generator.normal(0.0, 0.2, self._body.effectors)))

    def _vary_once(self, cycle: Cycle) -> Cycle:
        segments, at = list(cycle), int(self._generator.integers(len(cycle)))
        kinds = (
            self._longer, self._longer, self._longer, self._other, self._other, self._other, self._grown,
            self._shrunk, self._scaled, self._turned, self._doubled, self._swapped,
        )  # fmt: skip
        kinds[self._generator.integers(len(kinds))](segments, at)
        return tuple(segments[:_MAX_SEGMENTS])

    def _longer(self, segments: list[tuple[float, ...]], at: int) -> None:
        """Changes how long one segment lasts: often by a tick, sometimes by much."""
        if self._generator.random() < 0.5:
            wanted = segments[at][0] + float(self._generator.choice([-1.0, 1.0]))
        else:
            wanted = segments[at][0] * float(np.exp(self._generator.normal(0.0, 0.3)))
        segments[at] = (self._ticks(wanted), *segments[at][1:])

    def _ticks(self, wanted: float) -> float:
        return float(np.clip(np.rint(wanted), 1, self._horizon))

    def _other(self, segments: list[tuple[float, ...]], at: int) -> None:
        """Changes what one segment does: by a little, or altogether."""
        ticks, *levels = segments[at]
        if self._body.choices or self._generator.random() < 0.15:
            segments[at] = (ticks, *self._levels())
            return
        moved = np.array(levels) * np.exp(self._generator.normal(0.0, 0.2, len(levels)))
        moved += self._generator.normal(0.0, 0.03, len(levels)) * (self._generator.random() < 0.7)
        segments[at] = (ticks, *_round(moved))

    def _grown(self, segments: list[tuple[float, ...]], at: int) -> None:
        segments.insert(at, self._segment())

    def _shrunk(self, segments: list[tuple[float, ...]], at: int) -> None:
        if len(segments) > 1:
            del segments[at]

    def _scaled(self, segments: list[tuple[float, ...]], at: int) -> None:
        """Plays everything faster or slower, which finds resonances."""
        factor = float(np.exp(self._generator.normal(0.0, 0.15)))
        segments[:] = [(self._ticks(ticks * factor), *levels) for ticks, *levels in segments]

    def _turned(self, segments: list[tuple[float, ...]], at: int) -> None:
        """Begins the cycle somewhere else."""
        segments[:] = segments[at:] + segments[:at]

    def _doubled(self, segments: list[tuple[float, ...]], at: int) -> None:
        """Plays the cycle twice, so that the second time can become different, or a part of it twice."""
        if 2 * len(segments) <= _MAX_SEGMENTS:
            segments[:] = segments + segments if self._generator.random() < 0.5 else segments + segments[at:]

    def _swapped(self, segments: list[tuple[float, ...]], at: int) -> None:
        other = int(self._generator.integers(len(segments)))
        segments[at], segments[other] = segments[other], segments[at]
