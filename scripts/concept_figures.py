"""Draws the figures of ``docs/concepts.md`` from the stored anchors, the published entries and two short sessions.

``python scripts/concept_figures.py`` writes ``docs/figures/concepts/*.svg``. Nothing in them is typed in.
"""

import base64
import json
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

import nematodebench as nb
from nematodebench.board.collect import signed
from nematodebench.figures.render import with_fonts
from nematodebench.figures.style import INK, LINE_ROLES, PARTS, SERIES, configuration

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "figures" / "concepts"
TASK = "foraging_small-v2"
BRAIN, REFERENCE, CHANCE, BLIND = SERIES[0], *(LINE_ROLES[role] for role in ("reference", "null", "blind"))
WIDTH = 560
Rows = list[dict[str, Any]]


def anchors(task: str) -> dict[str, Any]:
    """The stored anchors of a task."""
    content = (ROOT / "src" / "nematodebench" / "tasks" / "anchors" / f"{task}.json").read_text(encoding="utf-8")
    stored: dict[str, Any] = json.loads(content)
    return stored


@cache
def deciding() -> list[Path]:
    """The verifications that the board rests on: of each entry that stands on it the one that decides."""
    found = signed(ROOT)
    listings = [found.listings[one.entry.id] for board in found.boards() for one in board.standings]
    return sorted(ROOT / "verifications" / listing.record for listing in listings if listing.record)


def entries() -> Rows:
    """Every entry of the board: the claim, and the verifier's statement about it."""
    found = []
    for path in deciding():
        statement = json.loads(base64.b64decode(json.loads(path.read_text(encoding="utf-8"))["payload"]))
        claim = json.loads((ROOT / statement["subject"][0]["name"]).read_text(encoding="utf-8"))
        found.append({"claim": claim, "fresh": statement["predicate"], "name": f"{claim['brain_type']}"})
    return found


def on_task(task: str, learners: bool = False) -> Rows:
    """The verified entries of a task, the best first."""
    found = [one for one in entries() if one["fresh"]["task"] == task]
    if learners:
        found = [one for one in found if one["claim"]["brain_class"] != "scripted"]
    return sorted(found, key=lambda one: -fresh(one)["mean"])


def fresh(entry: dict[str, Any]) -> dict[str, Any]:
    """The score that was measured on fresh seeds."""
    score: dict[str, Any] = entry["fresh"]["metrics"][entry["fresh"]["score_key"]]
    return score


def _chart(rows: Rows, **size: Any) -> alt.Chart:
    return alt.Chart(pl.DataFrame(rows)).properties(width=WIDTH, **size)


def anchor_scale() -> Any:
    """The lines that a score of the first task is read against."""
    stored = anchors(TASK)
    rows = [
        {"what": "floor: chance", "score": stored["floor"]["value"], "role": CHANCE},
        {"what": "best blind policy", "score": stored["blind"]["value"], "role": BLIND},
        {"what": "mlp_ppo, 500 runs", "score": fresh(on_task(TASK, learners=True)[0])["mean"], "role": BRAIN},
        {"what": "reference", "score": stored["reference"]["value"], "role": REFERENCE},
        {"what": "ceiling", "score": stored["ceiling"]["value"], "role": INK},
    ]
    base = _chart(rows, height=150).encode(
        x=alt.X("score:Q", title="composite score", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("what:N", title=None, sort=None),
        color=alt.Color("role:N", scale=None),
    )
    return base.mark_point(filled=True, size=110) + base.mark_text(dx=8, align="left").encode(
        text=alt.Text("score:Q", format=".3f"), color=alt.value(INK)
    )


def null_runs() -> Any:
    """Runs of the null policy beside runs of a learner on the same seeds."""
    rows = [
        {"brain": brain, "score": run.metrics["reward"], "role": role}
        for brain, role in (("null_random", CHANCE), ("q_table", BRAIN))
        for run in nb.run("association-v2", brain, runs=50, seed=1).runs
    ]
    floor = alt.Chart(pl.DataFrame([{"floor": anchors("association-v2")["floor"]["value"]}]))
    points = _chart(rows, height=110).mark_tick(thickness=2, size=30, opacity=0.7).encode(
        x=alt.X("score:Q", title="reward an episode, one mark for each of 50 runs"),
        y=alt.Y("brain:N", title=None, sort=None),
        color=alt.Color("role:N", scale=None),
    )  # fmt: skip
    return points + floor.mark_rule(strokeDash=[4, 3], color=INK).encode(x="floor:Q")


def blind_scores() -> Any:
    """What the best policy without senses gets on every task of version 2."""
    rows = []
    for path in sorted((ROOT / "src" / "nematodebench" / "tasks" / "anchors").glob("*-v2.json")):
        stored = anchors(path.stem)
        low, high = stored["floor"]["value"], stored["ceiling"]["value"]
        if stored.get("blind"):
            rows.append({"task": path.stem, "blind": nb.scoring.normalised(stored["blind"]["value"], low, high)})
    bars = _chart(rows, height=15 * len(rows)).mark_point(filled=True, size=60, color=BLIND).encode(
        x=alt.X("blind:Q", title="normalised score of the best blind policy", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("task:N", title=None, sort="-x"),
    )  # fmt: skip
    limit = alt.Chart(pl.DataFrame([{"limit": 0.25, "text": "ranked up to here"}])).encode(x="limit:Q")
    words = limit.mark_text(align="left", dx=4, dy=-6, color=INK).encode(text="text:N", y=alt.value(8))
    return bars + limit.mark_rule(strokeDash=[4, 3], color=INK) + words


def gate_bars() -> Any:
    """The ungated score, the gate and the score on the wall task."""
    best = on_task("wall-v2", learners=True)[0]
    values = {best["name"]: {key: best["fresh"]["metrics"][key]["mean"] for key in ("ungated", "gate", "nav_score")}}
    for brain in ("null_random", "motionless"):
        metrics = nb.run("wall-v2", brain, runs=10, seed=1).metrics
        values[brain] = {key: metrics[key].mean for key in ("ungated", "gate", "nav_score")}
    words = {"ungated": "ungated: few collisions", "gate": "gate: it moves", "nav_score": "score of a run"}
    rows = [{"brain": b, "part": words[k], "value": v} for b, parts in values.items() for k, v in parts.items()]
    bars = alt.Chart(pl.DataFrame(rows)).properties(width=WIDTH / 3.4, height=90).mark_bar(color=BRAIN).encode(
        x=alt.X("value:Q", title=None, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("part:N", title=None, sort=list(words.values())),
    )  # fmt: skip
    return bars.facet(column=alt.Column("brain:N", title=None, sort=list(values)))


def resolution_intervals() -> Any:
    """The learners of the first task with their intervals and letters."""
    found = on_task(TASK, learners=True)
    errors = [(fresh(one)["ci95"][1] - fresh(one)["ci95"][0]) / 3.92 for one in found]
    sets = nb.stats.rank_sets([fresh(one)["mean"] for one in found], errors)
    rows = [
        {
            "brain": f"{one['name']} ({letter})",
            "mean": fresh(one)["mean"],
            "low": fresh(one)["ci95"][0],
            "high": fresh(one)["ci95"][1],
        }
        for one, letter in zip(found, sets.groups, strict=True)
    ]
    base = _chart(rows, height=24 * len(rows)).encode(y=alt.Y("brain:N", title=None, sort=None))
    axis = alt.X("low:Q", title="composite score and 95 % interval; letters are groups", scale=alt.Scale(domain=[0, 1]))
    return base.mark_rule(color=BRAIN, strokeWidth=3).encode(x=axis, x2="high:Q") + base.mark_point(
        filled=True, size=60, color=BRAIN
    ).encode(x="mean:Q")


def sessions_and_runs() -> Any:
    """The ten sessions of one submission with their runs, and the mean of all."""
    claim = on_task(TASK, learners=True)[0]["claim"]
    rows = []
    for number, session in enumerate(claim["sessions"]):
        packed = (ROOT / f"{session['file_path']}.xz").read_bytes()
        runs = json.loads(lzma.decompress(packed))["runs"]
        rows += [{"session": number + 1, "score": run["metrics"]["composite_score"]} for run in runs]
    base = _chart(rows, height=190)
    points = base.mark_point(size=18, color=BRAIN, opacity=0.5).encode(
        x=alt.X("session:O", title="session", axis=alt.Axis(labelAngle=0)), y=alt.Y("score:Q", title="composite score")
    )
    means = base.mark_tick(color=REFERENCE, thickness=3, size=34).encode(x="session:O", y="mean(score):Q")
    return points + means + base.mark_rule(color=INK, strokeDash=[4, 3]).encode(y="mean(score):Q")


def twins() -> Any:
    """Runs with learning, and the same runs without."""
    rows = [
        {"run": run.index, "learning": word, "score": run.metrics["reward"]}
        for word, learning in (("learning off", False), ("learning on", True))
        for run in nb.run("association-v2", "spiking_rstdp", runs=30, seed=1, learning=learning).runs
    ]
    return alt.Chart(pl.DataFrame(rows)).properties(width=WIDTH / 2, height=200).mark_line(
        point=True, color=BRAIN, opacity=0.5
    ).encode(
        x=alt.X("learning:N", title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", title="reward an episode; a line is a seed"),
        detail="run:N",
    )  # fmt: skip


def composite_parts() -> Any:
    """What the four parts contribute to the composite of each entry."""
    weights = {"success_rate": 0.4, "distance_efficiency": 0.3, "learning_speed": 0.2, "stability": 0.1}
    found = on_task(TASK)
    rows = [
        {"brain": one["name"], "part": part.replace("_", " "), "share": weight * one["fresh"]["metrics"][part]["mean"]}
        for one in found
        for part, weight in weights.items()
    ]
    order = [part.replace("_", " ") for part in weights]
    colours = alt.Scale(domain=order, range=list(PARTS))
    return _chart(rows, height=24 * len(found)).mark_bar().encode(
        x=alt.X("sum(share):Q", title="composite score", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("brain:N", title=None, sort=[one["name"] for one in found]),
        color=alt.Color("part:N", title=None, scale=colours, sort=order,
                        legend=alt.Legend(orient="top", columnPadding=28)),
        order="part_order:Q",
    ).transform_calculate(part_order=f"indexof({json.dumps(order)}, datum.part)")  # fmt: skip


def fresh_scores() -> Any:
    """What was claimed of the leaders, and what fresh seeds gave, on the normalised scale."""
    rows = []
    for one in entries():
        if one["claim"]["brain_class"] == "scripted" or not one["fresh"]["normalised"]:
            continue
        name = f"{one['name']}, {one['fresh']['task']}"
        claimed, measured = one["claim"]["normalised"]["score"], one["fresh"]["normalised"]["score"]
        if measured > 0.1:
            rows += [{"entry": name, "kind": "claimed", "score": claimed, "role": CHANCE}]
            rows += [{"entry": name, "kind": "fresh", "score": measured, "role": BRAIN}]
    return _chart(rows, height=9 * len(rows)).mark_point(size=60, strokeWidth=2).encode(
        x=alt.X("score:Q", title="normalised score: grey claimed, blue on fresh seeds"),
        y=alt.Y("entry:N", title=None, sort=alt.EncodingSortField("score", order="descending")),
        color=alt.Color("role:N", scale=None),
    )  # fmt: skip


FIGURES: dict[str, Callable[[], Any]] = {
    "anchor": anchor_scale,
    "null": null_runs,
    "blind": blind_scores,
    "gate": gate_bars,
    "resolution": resolution_intervals,
    "sessions": sessions_and_runs,
    "twin": twins,
    "composite": composite_parts,
    "fresh": fresh_scores,
}


def svg(figure: Callable[[], Any]) -> str:
    """A figure as SVG, with the fonts and hairlines that all of them share."""
    import vl_convert

    spec = figure().to_dict()
    look = configuration()
    spec["padding"] = {"left": 24, "top": 6, "right": 16, "bottom": 6}  # for readers whose letters are wider
    spec["config"] = {**look, "background": "white", "axis": {**look["axis"], "grid": False, "labelLimit": 260}}
    return with_fonts(str(vl_convert.vegalite_to_svg(json.dumps(spec))))


def main() -> None:
    """Entry point."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, figure in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(svg(figure), encoding="utf-8")
        print(f"docs/figures/concepts/{name}.svg: written")


if __name__ == "__main__":
    main()
