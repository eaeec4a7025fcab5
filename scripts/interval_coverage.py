"""Writes ``docs/coverage.md``: how often every interval the platform prints covers the truth, by simulation.

``--write`` simulates everything (about three minutes) and writes the page, ``--check`` compares. Each cell has a
random stream of its own, so that a test can repeat a few.
"""

import argparse
import sys
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from coverage_shapes import HEAD, OTHER
from numpy.typing import NDArray
from scipy.special import stdtrit

from nematodebench import scoring, stats
from nematodebench.stats import StatValue
from nematodebench.stats.doubt import has_heavy_tail, has_long_tail, has_small_group, share_doubt
from nematodebench.stats.intervals import are_alike, half_widths
from nematodebench.stats.verdicts import EQUIVALENCE_LEVEL, LEVEL

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
SIZES = (5, 10, 20, 50, 500)
SHAPES = ("normal", "80/20", "90/10", "skewed")
SESSIONS = 4000
_RARE = 0.02

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rng = np.random.Generator
Batch = Callable[[Rng, str, int, int], tuple[Flags, Flags]]
"""Simulated sessions, by generator, shape, runs and number of sessions: is the truth covered, is the mark printed?

Everything is computed for all sessions at once; a test shows that the platform prints the same."""


@dataclass(frozen=True)
class Cell:
    """What was simulated of one interval, number of runs and shape of runs.

    Attributes:
        coverage: Share of all intervals that cover the truth.
        marked: Share that have the mark.
        unmarked: Coverage of those without it; nan where there are none.
    """

    coverage: float
    marked: float
    unmarked: float

    @property
    def holds(self) -> bool:
        """Whether unmarked intervals cover 93 to 97 %; fewer than 2 % of them are no basis for a statement."""
        return 1.0 - self.marked < _RARE or 0.93 <= self.unmarked <= 0.97

    @property
    def missing(self) -> float:
        """Share of all sessions whose interval has no mark and does not cover the truth."""
        return (1.0 - self.marked) * (1.0 - self.unmarked) if self.marked < 1.0 else 0.0

    def __str__(self) -> str:
        text = f"{100 * self.coverage:.1f} %"
        if self.marked < 0.005:
            return text
        if 1.0 - self.marked < _RARE:
            return f"{text} (!)"
        return f"{text}, {100 * self.marked:.0f} % (!), without {100 * self.unmarked:.1f} %"


FAILING = {"normal": 0.0, "80/20": 0.2, "90/10": 0.1}
MEANS = {"normal": 0.9, "80/20": 0.76, "90/10": 0.83, "skewed": 0.85}
SHARES = {"normal": 0.5, "80/20": 0.8, "90/10": 0.9, "skewed": 0.7}
WORMS = {"normal": (0.4, 0.4), "80/20": (0.8, 0.2), "90/10": (0.9, 0.1), "skewed": (0.6, 0.1)}
_FLOOR, _FLOOR_ERROR = 0.05, 0.004


def runs_of(rng: Rng, shape: str, size: tuple[int, ...]) -> Array:
    """Scores of runs: alike, one in five or one in ten far below, or skewed (a gamma distribution, skewness -1.2)."""
    if shape == "skewed":
        return 1.0 - rng.gamma(3.0, 0.05, size)
    return np.where(rng.random(size) < FAILING[shape], rng.normal(0.2, 0.05, size), rng.normal(0.9, 0.05, size))


def parts_of(rng: Rng, shape: str, size: tuple[int, ...]) -> Array:
    """Success, efficiency, speed and final success of runs, on the first axis."""

    def column(*values: float) -> Array:
        return np.array(values).reshape(4, *(1 for _ in size))

    noise = rng.normal(size=(4, *size))
    if shape == "skewed":
        lost = column(0.2, 0.2, 0.3, 0.15) * rng.gamma(3.0, 1.0, size) / 3.0
        return np.clip(column(0.95, 0.8, 0.9, 0.98) - lost + 0.02 * noise, 0.0, 1.0)
    good = column(0.85, 0.6, 0.75, 0.9) + column(0.05, 0.05, 0.06, 0.04) * noise
    bad = column(0.1, 0.1, 0.0, 0.1) + 0.03 * noise
    return np.clip(np.where(rng.random(size) < FAILING[shape], bad, good), 0.0, 1.0)


@cache
def truth(shape: str) -> tuple[float, float]:
    """Composite and stability of a session without end."""
    parts = parts_of(np.random.default_rng(1), shape, (1_000_000,))
    steady = scoring.stability(parts[3])
    return float(scoring.composite(parts[0], parts[1], parts[2], steady).mean()), steady


@cache
def chance(shape: str) -> float:
    """That a normal run, a little lowered, beats a run of this shape."""
    rng = np.random.default_rng(2)
    return stats.probability_of_improvement(*_sides(rng, shape, (400_000,)))


def _sides(rng: Rng, shape: str, size: tuple[int, ...]) -> tuple[Array, Array]:
    return runs_of(rng, "normal", size) - 0.03, runs_of(rng, shape, size)


def composites(parts: Array) -> tuple[Array, Array]:
    """Composites of the runs and their pseudo-values; a row is a session."""
    steady = 0.1 * scoring.stabilities(parts[3])[..., np.newaxis]
    return scoring.composite(parts[0], parts[1], parts[2], 0.0) + steady, scoring.composite_pseudo_values(*parts)


def doubtful(values: Array) -> Flags:
    """Where the mark is printed; a row is a session."""
    if values.shape[-1] < stats.FEW_RUNS:
        return np.ones(values.shape[:-1], dtype=np.bool_)
    return has_small_group(values) | are_alike(values) | has_long_tail(values)


def doubtful_pair(x: Array, y: Array, paired: bool) -> Flags:
    """Where the mark of a difference is printed."""
    return has_small_group(x) | has_small_group(y) | doubtful(x - y) if paired else doubtful(x) | doubtful(y)


def _near(centre: Array, target: float, half: Array) -> Flags:
    return np.abs(centre - target) <= half


def run_metric(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """A metric that each run has on its own."""
    values = runs_of(rng, shape, (sessions, n))
    return _near(values.mean(axis=-1), MEANS[shape], half_widths(values, stats.critical(n))), doubtful(values)


def composite(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The composite of a session."""
    values, pseudo = composites(parts_of(rng, shape, (sessions, n)))
    half = half_widths(pseudo, stats.t_critical(n - 1))
    return _near(values.mean(axis=-1), truth(shape)[0], half), doubtful(values)


def stability(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The stability of a session."""
    final = parts_of(rng, shape, (sessions, n))[3]
    pseudo = scoring.stability_pseudo_values(final)
    marked = np.full(sessions, True) if n < stats.STEADY_RUNS else has_heavy_tail(pseudo)
    return _near(scoring.stabilities(final), truth(shape)[1], half_widths(pseudo, stats.t_critical(n - 1))), marked


def _normalised(rng: Rng, values: Array, errors: Array, factor: float, target: float) -> tuple[Flags, Flags]:
    """A score between a measured floor and 1, with the error of both."""
    floor = rng.normal(_FLOOR, _FLOOR_ERROR, len(values))
    share = (values.mean(axis=-1) - floor) / (1 - floor)
    variance = errors.var(axis=-1, ddof=1) / errors.shape[-1] + ((1 - share) * _FLOOR_ERROR) ** 2
    half = factor * np.sqrt(variance) / (1 - floor)
    return _near(share, (target - _FLOOR) / (1 - _FLOOR), half), doubtful(values)


def normalised_metric(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """A normalised score, with a measured floor."""
    values = runs_of(rng, shape, (sessions, n))
    return _normalised(rng, values, values, stats.critical(n), MEANS[shape])


def normalised_composite(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The normalised composite of a session."""
    values, pseudo = composites(parts_of(rng, shape, (sessions, n)))
    return _normalised(rng, values, pseudo, stats.t_critical(n - 1), truth(shape)[0])


def share(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """A share of runs, such as those that converged."""
    hits = rng.binomial(n, SHARES[shape], sessions)
    ends = np.array([stats.wilson(k, n) for k in range(n + 1)])[hits]
    marked = np.array([bool(share_doubt(k, n)) for k in range(n + 1)])[hits]
    return (ends[:, 0] <= SHARES[shape]) & (SHARES[shape] <= ends[:, 1]), marked


def chemotaxis(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The chemotaxis index: worms at the attractant, at the control, and at neither."""
    attractant, control = WORMS[shape]
    counts = rng.multinomial(n, [attractant, control, max(0.0, 1 - attractant - control)], sessions)
    ends = np.array([scoring.chemotaxis_interval(int(a), int(c), n) for a, c, _ in counts])
    index = attractant - control
    return (ends[:, 0] <= index) & (index <= ends[:, 1]), np.full(sessions, n < stats.FEW_RUNS)


def _pooled(values: list[StatValue], target: float) -> tuple[Flags, Flags]:
    covered = np.array([value.ci95[0] <= target <= value.ci95[1] for value in values])
    return covered, np.array([bool(value.doubt) for value in values])


def submission_metric(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """A metric over ten sessions."""
    values = runs_of(rng, shape, (sessions // 4, 10, n // 10))
    return _pooled([StatValue.pooled(list(one)) for one in values], MEANS[shape])


def submission_composite(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The composite over ten sessions."""
    values, pseudo = composites(parts_of(rng, shape, (sessions // 4, 10, n // 10)))
    pairs = zip(values, pseudo, strict=True)
    return _pooled([StatValue.pooled(list(one), list(errors)) for one, errors in pairs], truth(shape)[0])


def submission_stability(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
    """The stability over ten sessions."""
    final = parts_of(rng, shape, (sessions // 4, 10, n // 10))[3]
    values, pseudo = scoring.stabilities(final)[..., np.newaxis], scoring.stability_pseudo_values(final)
    pairs = zip(values, pseudo, strict=True)
    found = [StatValue.pooled(list(one), list(errors)) for one, errors in pairs]
    return _pooled(found, truth(shape)[1])


def _t_test(x: Array, y: Array, paired: bool) -> tuple[Array, Array]:
    """Standard error of the difference of two rows of runs, and its degrees of freedom."""
    n = x.shape[-1]
    if paired:
        return half_widths(x - y, 1.0), np.full(len(x), n - 1.0)
    va, vb = half_widths(x, 1.0) ** 2, half_widths(y, 1.0) ** 2
    return np.sqrt(va + vb), (va + vb) ** 2 / (va**2 + vb**2) * (n - 1)


def _difference(paired: bool) -> Batch:
    def batch(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
        x, y = runs_of(rng, "normal", (sessions, n)), runs_of(rng, shape, (sessions, n))
        se, df = _t_test(x, y, paired)
        gap = x.mean(axis=-1) - y.mean(axis=-1)
        return _near(gap, MEANS["normal"] - MEANS[shape], stdtrit(df, 0.975) * se), doubtful_pair(x, y, paired)

    return batch


def _improvement(paired: bool) -> Batch:
    def batch(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
        pairs = [_sides(rng, shape, (n,)) for _ in range(sessions // 4)]
        ends = np.array([stats.improvement_interval(x, y, paired) for x, y in pairs])
        covered = (ends[:, 0] <= chance(shape)) & (chance(shape) <= ends[:, 1])
        x, y = (np.array(side) for side in zip(*pairs, strict=True))
        # Ranks have no tails; a small group of the differences marks the line, too.
        marked = has_small_group(x) | has_small_group(y) | (paired & has_small_group(x - y))
        return covered, marked | (n < stats.FEW_RUNS)

    return batch


def _self(score: str, paired: bool) -> Batch:
    """A brain against itself: whether 0 is covered, and whether the verdict is a difference."""

    def batch(rng: Rng, shape: str, n: int, sessions: int) -> tuple[Flags, Flags]:
        if score == "composite":
            (x, dx), (y, dy) = (composites(parts_of(rng, shape, (sessions, n))) for _ in range(2))
        else:
            x, y = (runs_of(rng, shape, (sessions, n)) for _ in range(2))
            dx, dy = x, y
        gap, (se, df) = np.abs(x.mean(axis=-1) - y.mean(axis=-1)), _t_test(dx, dy, paired)
        equivalent = gap + stdtrit(df, 1 - EQUIVALENCE_LEVEL) * se < stats.SMALLEST_EFFECT
        return gap <= stdtrit(df, 0.975) * se, ~equivalent & (gap > stdtrit(df, 1 - LEVEL / 2) * se)

    return batch


INTERVALS: dict[str, tuple[Batch, tuple[int, ...]]] = {
    "metric of a session": (run_metric, SIZES),
    "composite of a session": (composite, SIZES),
    "stability of a session": (stability, SIZES),
    "normalised score": (normalised_metric, SIZES),
    "normalised composite": (normalised_composite, SIZES),
    "share of runs": (share, SIZES),
    "chemotaxis index": (chemotaxis, SIZES),
    "metric of a submission": (submission_metric, (500,)),
    "composite of a submission": (submission_composite, (500,)),
    "stability of a submission": (submission_stability, (500,)),
    "difference, paired (gain too)": (_difference(True), SIZES),
    "difference, unpaired": (_difference(False), SIZES),
    "P(A > B), paired": (_improvement(True), SIZES),
    "P(A > B), unpaired": (_improvement(False), SIZES),
}
SELF: dict[str, Batch] = {
    f"{score}, {'paired' if paired else 'unpaired'}": _self(score, paired)
    for score in ("metric", "composite")
    for paired in (True, False)
}


def other_shapes(sessions: int = SESSIONS) -> str:
    """The section of shapes that the tables do not have; it names those of which too many sessions miss unmarked."""
    rows, short = [], []
    for k, (name, (draw, mean)) in enumerate(OTHER.items()):
        cells = []
        for n in (50, 100, 500):
            values = draw(np.random.default_rng([k, n]), (sessions, n))
            half = half_widths(values, stats.critical(n))
            cells.append(_cell(_near(values.mean(axis=-1), mean, half), doubtful(values)))
            short += [f"{name} with {n} runs"] if cells[-1].missing > 0.07 else []
        rows.append(f"| {name} | {' | '.join(map(str, cells))} |")
    last = f"More than 7 % of all sessions have no mark and miss: {'; '.join(short)}."
    return "\n".join([HEAD, *rows, "", textwrap.fill(last, 120)])


def _cell(covered: Flags, marked: Flags) -> Cell:
    left = covered[~marked]
    return Cell(float(covered.mean()), float(marked.mean()), float(left.mean()) if left.size else float("nan"))


def simulate(name: str, batch: Batch, shape: str, n: int, sessions: int = SESSIONS) -> Cell:
    """One cell, from its own stream."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), SHAPES.index(shape), n])
    return _cell(*batch(rng, shape, n, sessions))


_HEAD = """# Coverage

How often do the intervals that the platform prints cover the truth? This page is written by
`scripts/interval_coverage.py`, from
{sessions:,} simulated sessions a cell (a quarter of that for submissions and P(A > B)), and a slow test simulates part
of it again. [self_comparisons.md](self_comparisons.md) does the same with real runs of published brains.

- Rows are numbers of runs, columns shapes of runs: *normal*, one run in five or one in ten that fails (*80/20*,
  *90/10*: two peaks, 0.9 and 0.2), and *skewed* (skewness -1.2). For shares of runs and the chemotaxis index they stand
  for shares of 50, 80, 90 and 70 %.
- A cell is the coverage of a nominal 95 % interval. `(!)`: it is printed with the mark. Where only some are, the cell
  says how many, and the coverage of those without.
- **Wherever no mark is printed, coverage is 93 to 97 %** for these shapes. The mark is printed for fewer than 50 runs
  (stability: 300 a session), where fewer than 20 runs lie behind a gap of 3 standard deviations, where the runs have a
  long tail for their number, where they are all alike, and for a share that one to three runs tell. With few runs no
  interval can do better: of 20 runs of a brain that fails once in ten, none fails in 12 % of all sessions, and then
  runs look alike. [Other shapes](#other-shapes) show where the mark is not enough.

"""


def page(sessions: int = SESSIONS) -> tuple[str, list[str]]:
    """The page, and every statement of it that does not hold."""
    lines, wrong = [_HEAD.format(sessions=sessions)], []
    for name, (batch, sizes) in INTERVALS.items():
        cells = {(n, shape): simulate(name, batch, shape, n, sessions) for n in sizes for shape in SHAPES}
        print(f"{name}: done", file=sys.stderr)
        lines.append(f"## {name[0].upper()}{name[1:]}\n\n{table(sizes, cells)}\n")
        wrong += [f"{name}, n = {n}, {shape}: {cell}" for (n, shape), cell in cells.items() if not cell.holds]
    lines += ["## False positives\n\nA brain against itself: how often the verdict is better or worse. At most 5 %.\n"]
    for name, batch in SELF.items():
        cells = {(n, shape): simulate(name, batch, shape, n, sessions) for n in SIZES for shape in SHAPES}
        rates = {key: f"{100 * cell.marked:.1f} %" for key, cell in cells.items()}
        lines.append(f"### Of a {name}\n\n{table(SIZES, rates)}\n")
        wrong += [f"false positives, {name}, n = {n}, {s}" for (n, s), cell in cells.items() if cell.marked > 0.05]
    lines.append(other_shapes(sessions))
    return "\n".join(line.rstrip("\n") + "\n" for line in lines), wrong


def table(sizes: tuple[int, ...], cells: dict[tuple[int, str], Cell] | dict[tuple[int, str], str]) -> str:
    """Cells as Markdown."""
    rows = [f"| {n} | {' | '.join(str(cells[n, shape]) for shape in SHAPES)} |" for n in sizes]
    return "\n".join([f"| runs | {' | '.join(SHAPES)} |", "|---" * (len(SHAPES) + 1) + "|", *rows])


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="simulate and write the page")
    choice.add_argument("--check", action="store_true", help="simulate and compare with the page")
    arguments = parser.parse_args()
    text, wrong = page()
    for line in wrong:
        print(f"does not hold: {line}")
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.name} is not what the simulation gives: run scripts/interval_coverage.py --write")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
