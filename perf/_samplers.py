"""The figure of docs/search.md: random search, TPE and CMA-ES at equal budget on a real target, ten searches each.

What is drawn is the champion of each number of trials on seeds no search has seen, so luck does not count.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import get_brain
from nematodebench.search.space import declared_space
from nematodebench.search.study import SearchPlan, run_search
from nematodebench.search.target import BrainTarget, brain_target
from nematodebench.search.verdict import held_out_seeds

BRAIN, TASK, EPISODES, TRIALS, SEARCHES, HELD_OUT = "q_table", "foraging_small-v1", 60, 40, 10, 20
SAMPLERS = ("random", "tpe", "cmaes")
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "search.png"


def champions(target: BrainTarget, plan: SearchPlan) -> list[float]:
    """Held-out score of the best trial so far, after each trial."""
    study = run_search(target, plan).study
    seeds, scores, best = held_out_seeds(10_000 + plan.seed, HELD_OUT), [], -np.inf
    for trial in study.trials:
        if trial.value is not None and trial.value > best:
            best = trial.value
            score = float(target.values(target.run(trial.params, seeds)).mean())
        scores.append(score)
    return scores


def draw(curves: dict[str, NDArray[np.float64]]) -> None:
    """Mean over searches with its 95 % interval."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, rows in curves.items():
        mean, half = rows.mean(axis=0), 2.262 * rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
        (line,) = axes.plot(np.arange(1, TRIALS + 1), mean, label=name)
        axes.fill_between(np.arange(1, TRIALS + 1), mean - half, mean + half, color=line.get_color(), alpha=0.15)
    axes.set(xlabel="trials (the first is the default)", ylabel="composite of the champion on held-out seeds",
             title=f"{BRAIN} on {TASK}, {EPISODES} episodes, {SEARCHES} searches")  # fmt: skip
    axes.legend()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=120)


def main() -> int:
    """Searches, draws, prints."""
    target = brain_target(BRAIN, TASK, episodes=EPISODES)
    space = tuple(declared_space(BRAIN, get_brain(BRAIN)))
    curves = {}
    with tempfile.TemporaryDirectory() as folder:
        base = SearchPlan("figure", space, trials=TRIALS, runs=4, held_out=2, prune=False)
        for name in SAMPLERS:
            plans = [
                replace(base, sampler=name, seed=seed, storage=f"{folder}/{name}{seed}.log") for seed in range(SEARCHES)
            ]
            curves[name] = np.array([champions(target, plan) for plan in plans])
            final = curves[name][:, -1]
            half = 2.262 * final.std(ddof=1) / np.sqrt(SEARCHES)
            print(f"{name:8s} default {curves[name][:, 0].mean():.3f}, champion {final.mean():.3f} ± {half:.3f}")
    draw(curves)
    return 0


if __name__ == "__main__":
    sys.exit(main())
