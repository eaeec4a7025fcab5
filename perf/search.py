"""A search of 100 trials on association: how long it takes, and how much of that is Optuna's."""

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import get_brain, list_brains
from nematodebench.search.space import declared_space
from nematodebench.search.study import SearchPlan, finished_trials, run_search
from nematodebench.search.target import BrainTarget, brain_target

TRIALS, LIMIT = 100, 60.0


class Timed:
    """A target that counts the seconds of its runs."""

    def __init__(self, target: BrainTarget) -> None:
        self.target, self.seconds = target, 0.0

    def run(self, config: Mapping[str, Any], seeds: Sequence[int]) -> list[Any]:
        """Runs, timed."""
        started = time.perf_counter()
        results = self.target.run(config, seeds)
        self.seconds += time.perf_counter() - started
        return results

    def values(self, results: Sequence[Any]) -> NDArray[np.float64]:
        """Scores."""
        return self.target.values(results)


def main() -> int:
    """Measures and prints."""
    name = "spiking_rstdp" if "spiking_rstdp" in list_brains() else "q_table"
    space = declared_space(name, get_brain(name))
    timed = Timed(brain_target(name, "association-v1"))
    with tempfile.TemporaryDirectory() as folder:
        plan = SearchPlan(name, tuple(space), trials=TRIALS, storage=str(Path(folder) / "journal.log"))
        started = time.perf_counter()
        result = run_search(timed, plan)
        seconds = time.perf_counter() - started
        pruned = sum(trial.state.name == "PRUNED" for trial in finished_trials(result.study))
    print(f"{name}, {len(space)} parameters, {TRIALS} trials ({pruned} pruned), {plan.runs} runs each, held-out runs")
    print(f"all        {seconds:8.2f} s  (wanted <= {LIMIT:g}){'' if seconds <= LIMIT else '  MISSED'}")
    print(f"runs       {timed.seconds:8.2f} s")
    print(f"overhead   {(seconds - timed.seconds) / TRIALS * 1000:8.2f} ms a trial (sampling, pruning, journal)")
    return int(seconds > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
