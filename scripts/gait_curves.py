"""Measures how worms on plates steer, and draws the curves of ``docs/plates.md``.

``python scripts/gait_curves.py --measure`` traces one scored episode of every run of some brains on
``plate_chemotaxis-v1`` and keeps the curves in ``docs/figures/plates/gait.json``; a brain that is there is not run
again. ``--draw`` draws them. A point is the mean over runs with its 95 % interval; a run that never was in a bin has no
part in it. Dashed lines are real worms.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from nematodebench.engine.tracing import TracedEpisode
from nematodebench.stats import StatValue
from nematodebench.trajectories.watching import Wanted, see_run
from nematodebench.worlds.plate.body import LAG
from nematodebench.worlds.plate.chemotaxis import State

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "plates"
TASK, RUNS, SEED = "plate_chemotaxis-v1", 30, 41
BRAINS = {"null_random": "#999999", "mlp_ppo": "#0072B2", "plate_follower": "#009E73"}
TRENDS, GRADIENTS = np.linspace(-0.06, 0.06, 8), np.linspace(-0.28, 0.28, 8)
STEEP_FALL, STEEP_RISE = 0.023 / 0.4 + 0.0033, 0.0033
"""Pirouettes that a wild-type worm begins in a second: the ends of 0.023 / (0.4 + exp(140 dC/dt)) + 0.0033, fitted by
Iino and Yoshida (2009) to worms in gradients of salt. They do not depend on the unit of the concentration C."""
Rows = list[dict[str, Any]]


def course(episode: TracedEpisode, name: str) -> Any:
    """One number of the world's state at every moment."""
    return episode.state[:, State.singles[name]]


def klinokinesis(episode: TracedEpisode) -> tuple[Any, Any]:
    """The change of closeness in a tick, and whether the worm turned sharply within the next ticks."""
    headings = np.unwrap(course(episode, "heading"))
    turned = np.abs((headings[LAG:] - headings[:-LAG] + np.pi) % (2 * np.pi) - np.pi) > np.pi / 2
    return np.diff(course(episode, "closeness"))[: len(turned) - 1], turned[1:]


def weathervane(episode: TracedEpisode) -> tuple[Any, Any]:
    """The gradient to the left, and the turn of the next tick in degrees."""
    return course(episode, "lateral")[:-1], np.degrees(course(episode, "turn")[1:])


def binned(x: Any, y: Any, edges: Any) -> list[float | None]:
    """The mean of ``y`` in every bin of ``x``; None where there is nothing."""
    bins = np.digitize(x, edges) - 1
    return [float(np.mean(y[bins == k])) if (bins == k).any() else None for k in range(len(edges) - 1)]


def measure(brain: str) -> dict[str, Rows]:
    """Both curves of a brain."""
    episodes = [see_run(TASK, brain, Wanted(run=k), seed=SEED).episode for k in range(RUNS)]
    kinds = {"klinokinesis": (klinokinesis, TRENDS), "weathervane": (weathervane, GRADIENTS)}
    return {name: _points([binned(*f(e), edges) for e in episodes], edges) for name, (f, edges) in kinds.items()}


def _points(runs: list[list[float | None]], edges: Any) -> Rows:
    points = []
    for k, middle in enumerate((edges[1:] + edges[:-1]) / 2):
        values = [value for run in runs if (value := run[k]) is not None]
        if len(values) > 2:
            found = StatValue.from_values(values)
            ends = {"low": found.ci95[0], "high": found.ci95[1]}
            points.append({"x": float(middle), "mean": found.mean, **ends, "runs": len(values)})
    return points


def wild_type() -> Any:
    """Shares of real worms that begin a pirouette within the ticks of a sharp turn, in steep gradients of salt."""
    ends = {"fall": (STEEP_FALL, TRENDS[0], 0.0), "rise": (STEEP_RISE, 0.0, TRENDS[-1])}
    rows = [
        {"x": first, "x2": last, "y": 1 - np.exp(-LAG * rate), "name": f"wild type, steep {name}"}
        for name, (rate, first, last) in ends.items()
    ]
    base = alt.Chart(pl.DataFrame(rows)).encode(x="x:Q", y="y:Q")
    lines = base.mark_rule(strokeDash=[6, 4], color="#D55E00").encode(x2="x2:Q")
    return lines + base.mark_text(align="left", dy=-16, color="#D55E00").encode(text="name:N")


def draw(kept: dict[str, dict[str, Rows]], kind: str, x: str, y: str, end: int, more: Any = None) -> None:
    """One figure: every brain's curve with its intervals, and its name where curves are far apart."""
    rows = [{**point, "brain": name, "colour": BRAINS[name]} for name in kept for point in kept[name][kind]]
    base = alt.Chart(pl.DataFrame(rows)).encode(x=alt.X("x:Q", title=x), color=alt.Color("colour:N", scale=None))
    line = base.mark_line(point=True).encode(y=alt.Y("mean:Q", title=y), detail="brain:N")
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q")
    ends = [{**kept[name][kind][end], "brain": name, "colour": BRAINS[name]} for name in kept if kept[name][kind]]
    names = alt.Chart(pl.DataFrame(ends)).mark_text(align="left", dx=6, dy=-7).encode(
        x="x:Q", y="mean:Q", text="brain:N", color=alt.Color("colour:N", scale=None)
    )  # fmt: skip
    chart = alt.layer(bars, line, names, *([] if more is None else [more]))
    chart.properties(width=460, height=220).save(FOLDER / f"{kind}.svg")


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="run what is missing")
    parser.add_argument("--draw", action="store_true", help="draw what was measured")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "gait.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for brain in BRAINS if options.measure else ():
        if brain not in kept:
            kept[brain] = measure(brain)
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            print(f"{brain}: measured", flush=True)
    if options.draw:
        draw(
            kept, "klinokinesis", "change of closeness in a tick", "share of sharp turns within 5 ticks", 1, wild_type()
        )
        draw(kept, "weathervane", "gradient to the left, per mm", "turn to the left in the next tick, degrees", -1)


if __name__ == "__main__":
    main()
