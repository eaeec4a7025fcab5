"""Writes docs/peers.md from the rows of docs/peers.csv."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

__all__ = ["OURS", "page"]

OURS = {"PPO": "mlp_ppo", "DQN": "mlp_dqn", "A2C": "mlp_reinforce", "RecurrentPPO": "gru_ppo"}
_HEAD = """# Peers

Our learners beside those of stable-baselines3, and gru_ppo beside RecurrentPPO of its sister library sb3-contrib: the
same worlds through our own Gymnasium environments, the same budget of experience, the same score. Written by
`python -m perf peers`, which goes on where it was interrupted; the rows are in [peers.csv](peers.csv).

- Both sides have their own defaults. Effectors are choices among 5 levels for both, for DQN of stable-baselines3 among
  all combinations of them.
- Both sides draw their actions in the scored episodes, ours go on learning as in every session. What stable-baselines3
  scores with its best actions instead stands beside it and is not compared: ours are never scored so, and the better of
  two results on the same episodes would favour one side.
- Where a task is scored while it trains, the score of both is that of the training itself. A composite is taken without
  stability, which single runs do not have, so 0.9 is the most.
- Seconds are those of one processor, ours / theirs: rough, because a busy machine makes both slower, and without runs
  whose time was not recorded.
- Means with 95 % intervals of Student's t over the seeds (in brackets; one or two, and seeds that are all alike, have
  no interval), the difference by Welch's. With so few seeds an interval is wide, and doubtful where runs either fail or
  succeed.

| task | algorithm | ours | score | stable-baselines3 | its best actions | difference | verdict | seconds a run |
|---|---|---|---|---|---|---|---|---|
"""


def _interval(values: Sequence[float]) -> str:
    mean = float(np.mean(values))
    if len(values) < 3 or np.ptp(values) == 0.0:
        return f"{mean:.3f} ({len(values)})"
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return f"{mean:.3f} ± {half:.3f} ({len(values)})"


def _difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, str]:
    """Ours minus theirs with its interval, and what it shows."""
    gap = float(np.mean(ours) - np.mean(theirs))
    if min(len(ours), len(theirs)) < 3:
        return f"{gap:+.3f}", "too few seeds"
    if np.ptp(ours) == 0.0 and np.ptp(theirs) == 0.0:
        return f"{gap:+.3f}", "equal" if gap == 0.0 else "no spread, no interval"
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    verdict = "ours better" if low > 0 else "theirs better" if high < 0 else "equal within error"
    return f"{gap:+.3f} [{low:+.3f}, {high:+.3f}]", verdict


def _cells(rows: Sequence[dict[str, str]]) -> dict[tuple[str, str], tuple[list[dict[str, str]], list[dict[str, str]]]]:
    """Rows of ours and of theirs by task and algorithm; trials with another budget are left out."""
    found: dict[tuple[str, str], tuple[list[dict[str, str]], list[dict[str, str]]]] = {}
    for row in rows:
        if row["ticks"] == "0":
            sides = found.setdefault((row["task"], row["algorithm"]), ([], []))
            sides[row["learner"] != "ours"].append(row)
    return found


def _seconds(side: list[dict[str, str]]) -> str:
    known = [float(row["seconds"]) for row in side if row["seconds"]]
    return f"{np.mean(known):.1f}" if known else "–"


def _line(task: str, algorithm: str, ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> str:
    scores = [[float(row["score"]) for row in side] for side in (ours, theirs)]
    best = [float(row["best_actions"]) for row in theirs]
    gap, verdict = _difference(*scores)
    columns = (
        task, algorithm, OURS[algorithm], _interval(scores[0]), _interval(scores[1]), _interval(best), gap, verdict,
        f"{_seconds(ours)} / {_seconds(theirs)}",
    )  # fmt: skip
    return f"| {' | '.join(columns)} |\n"


def page(rows: Sequence[dict[str, str]], wanted: Mapping[tuple[str, str], int]) -> str:
    """The text of the page.

    Args:
        rows: What was measured.
        wanted: Seeds that every task and algorithm should have; what is missing is named.
    """
    cells = _cells(rows)
    lines = [_line(*key, *sides) for key, sides in cells.items() if all(sides)]
    missing = []
    for key, seeds in wanted.items():
        there = min(len(side) for side in cells.get(key, ([], [])))
        if there < seeds:
            missing.append(f"{key[1]} on {key[0]} ({seeds - there} of {seeds} seeds)")
    said = "\n" + textwrap.fill(f"Not measured yet: {', '.join(missing)}.", 120) + "\n" if missing else ""
    return _HEAD + "".join(lines) + said
