"""Learners of other libraries on our tasks: stable-baselines3 beside ours, with the same budget and the same score.

Every cell is a task, an algorithm and a number of seeds. A finished seed is appended to docs/peers.csv, so that an
interrupted benchmark goes on where it was; at last docs/peers.md is written. RecurrentPPO needs sb3-contrib. All cells
take hours. A part of them:

    python -m perf.peers --only PPO:cartpole-v2 --seeds 1 --ticks 2000 --folder /tmp/peers
"""

import argparse
import csv
import importlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench import scoring
from nematodebench.measures.base import RunMetrics
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import get_task
from perf._peer_env import Actions, RecordedEnv
from perf._peer_page import OURS, page

SESSION_SEED = 2026
COLUMNS = ("task", "algorithm", "learner", "seed", "ticks", "score", "best_actions", "seconds")


@dataclass(frozen=True)
class Cell:
    """An algorithm on a task; ``ticks`` 0 is the task's own budget."""

    algorithm: str
    task: str
    seeds: int
    ticks: int = 0


CELLS = (
    *(Cell("PPO", task, 5) for task in ("cartpole-v2", "foraging_small-v2", "cartpole_swingup-v1", "pong-v2")),
    *(Cell(name, task, 3) for name in ("DQN", "A2C") for task in ("cartpole-v2", "foraging_small-v2")),
    Cell("PPO", "cartpole_swingup-v2", 5),
    Cell("RecurrentPPO", "bit_memory_4-v1", 3),
)


def learner(algorithm: str, env: RecordedEnv, seed: int) -> Any:
    """A learner of stable-baselines3 or of its sister sb3-contrib with its own defaults, on one thread."""
    import torch

    recurrent = algorithm.startswith("Recurrent")
    library = importlib.import_module("sb3_contrib" if recurrent else "stable_baselines3")
    torch.set_num_threads(1)
    return getattr(library, algorithm)("MlpLstmPolicy" if recurrent else "MlpPolicy", env, seed=seed, device="cpu")


def trained(model: Any, phase: Phase, ticks: int) -> None:
    """Gives a learner the budget of a phase: ticks, or episodes."""
    from stable_baselines3.common.callbacks import StopTrainingOnMaxEpisodes

    if phase.ticks:
        model.learn(ticks or phase.ticks)
        return
    longest = phase.episodes * int(getattr(phase.world, "max_steps", 1000))
    model.learn(ticks or longest, callback=StopTrainingOnMaxEpisodes(phase.episodes))


def played(model: Any, phase: Phase, actions: Actions, seed: int, greedy: bool) -> list[list[float]]:
    """Episodes of a phase in which nothing is learned."""
    env = RecordedEnv(phase, actions)
    for episode in range(phase.episodes):
        obs, _ = env.reset(seed=seed) if episode == 0 else env.reset()
        state, begins, ended = None, True, False
        while not ended:
            action, state = model.predict(obs, state, np.array([begins]), deterministic=greedy)
            obs, _, terminated, truncated, _ = env.step(action)
            begins, ended = False, terminated or truncated
    return env.rows


def run_score(task: Task, row: RunMetrics) -> float:
    """The score that a run has on its own: a composite without stability, which only several runs have."""
    if task.score_key != "composite_score":
        return float(row[task.score_key] or 0.0)
    success, efficiency, speed = (
        float(row[name] or 0.0) for name in ("success_rate", "distance_efficiency", "learning_speed")
    )
    return float(scoring.composite(success, efficiency, speed, 0.0))


def score_of(task: Task, records: dict[str, list[list[float]]]) -> float:
    """The task's own score of a run."""
    arrays = {name: np.array(rows, dtype=np.float64) for name, rows in records.items()}
    return run_score(task, task.measure([arrays]).runs[0])


def peer_scores(cell: Cell, seed: int) -> tuple[float, float]:
    """Trains one learner; its score with drawn actions, as ours are scored, and with the best ones, as a remark."""
    task = get_task(cell.task)
    actions: Actions = "joint" if cell.algorithm == "DQN" else "heads"
    first = task.phases[0]
    env = RecordedEnv(first, actions)
    model = learner(cell.algorithm, env, seed)
    trained(model, first, cell.ticks)
    found = []
    for greedy in (False, True):
        records = {first.name: env.rows[: first.episodes or None]}
        for phase in task.phases[1:]:
            records[phase.name] = played(model, phase, actions, 1_000_000 + seed, greedy)
        found.append(score_of(task, records))
    return found[0], found[1]


def our_scores(cell: Cell) -> Iterator[tuple[int, float]]:
    """Scores of our brain, as a session gives them."""
    given = SessionConfig(task=cell.task, brain=OURS[cell.algorithm], runs=cell.seeds, seed=SESSION_SEED)
    session = run_plan(make_plan(given, workers=1))
    for seed, row in enumerate(session.measurement.runs):
        yield seed, run_score(session.plan.task, row)


def stored(path: Path) -> list[dict[str, str]]:
    """The rows that there are."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def store(path: Path, cell: Cell, who: str, seed: int, score: float, best: str, seconds: float) -> None:
    """Appends a row; seconds are those of a processor, which a busy machine does not change much."""
    fresh = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(COLUMNS)
        writer.writerow([cell.task, cell.algorithm, who, seed, cell.ticks, f"{score:.6f}", best, f"{seconds:.1f}"])
    print(f"{cell.task} {cell.algorithm} {who} seed {seed}: {score:.3f} in {seconds:.0f} s", flush=True)


def fill(cell: Cell, path: Path) -> None:
    """Does what is missing of a cell."""
    own = (cell.task, cell.algorithm, str(cell.ticks))
    rows = [row for row in stored(path) if (row["task"], row["algorithm"], row["ticks"]) == own]
    there = {(row["learner"], int(row["seed"])) for row in rows}
    started = time.process_time()
    missing = [seed for seed in range(cell.seeds) if ("ours", seed) not in there]
    for seed, score in our_scores(cell) if missing and not cell.ticks else ():
        if seed in missing:
            store(path, cell, "ours", seed, score, "", (time.process_time() - started) / cell.seeds)
    for seed in range(cell.seeds):
        if ("stable-baselines3", seed) not in there:
            started = time.process_time()
            score, best = peer_scores(cell, seed)
            store(path, cell, "stable-baselines3", seed, score, f"{best:.6f}", time.process_time() - started)


def chosen(only: str, seeds: int, ticks: int) -> list[Cell]:
    """The cells that were asked for: ``PPO:cartpole-v2``, several with commas; all without a word."""
    words = set(only.split(",")) if only else {f"{cell.algorithm}:{cell.task}" for cell in CELLS}
    known = [cell for cell in CELLS if f"{cell.algorithm}:{cell.task}" in words]
    return [Cell(cell.algorithm, cell.task, seeds or cell.seeds, ticks) for cell in known]


def written(path: Path) -> str:
    """The page of the rows that there are, and of the seeds that every cell should have."""
    return page(stored(path), {(cell.task, cell.algorithm): cell.seeds for cell in CELLS})


def main() -> None:
    """Fills the cells and writes the page."""
    parser = argparse.ArgumentParser(description="stable-baselines3 beside our learners; resumable")
    parser.add_argument("--only", default="", help="cells, like PPO:cartpole-v2,DQN:cartpole-v2")
    parser.add_argument("--seeds", type=int, default=0, help="seeds of a cell, other than its own number")
    parser.add_argument("--ticks", type=int, default=0, help="another budget, for a trial; ours are left out then")
    parser.add_argument("--folder", type=Path, default=Path("docs"), help="where peers.csv and peers.md lie")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / "peers.csv"
    for cell in chosen(given.only, given.seeds, given.ticks):
        fill(cell, path)
        (given.folder / "peers.md").write_text(written(path), encoding="utf-8")


if __name__ == "__main__":
    main()
