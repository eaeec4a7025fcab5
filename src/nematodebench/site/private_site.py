"""The private board of a laboratory: its own stored sessions, nothing verified, task by task."""

from collections.abc import Sequence
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.kinds import task_figures
from nematodebench.figures.render import FORMATS
from nematodebench.figures.samples import Sample, best_first
from nematodebench.figures.sources import Sources
from nematodebench.site.cells import axis_lines, number, stat
from nematodebench.site.entries import file_name
from nematodebench.site.marks import EVERY
from nematodebench.site.pages import beside, page_figure, render, site_script, style_sheet
from nematodebench.site.replay import replay_scripts, runs_script
from nematodebench.site.sample_replay import sample_replay

__all__ = ["build_private_site"]


def build_private_site(sources: Sources, name: str) -> dict[str, bytes]:
    """Every file of the site, by its path."""
    if not sources.samples:
        raise UsageError("There are no stored sessions to make a board of.")
    tasks = {task: best_first(sources.of_task(task)) for task in sources.tasks}
    replays = {task: [_replay(one) for one in samples] for task, samples in tasks.items()}
    groups = [
        {"task": task, "file": file_name(task), "rows": _rows(samples, replays[task]),
         "lines": axis_lines(samples[0].anchors)}
        for task, samples in tasks.items()
    ]  # fmt: skip
    made = {"assets/site.css": style_sheet(), "assets/site.js": site_script(),
            "index.html": render("private.html", up="", site_name=name, groups=groups)}  # fmt: skip
    made |= {f"cases/{one['file']}": one["script"] for found in replays.values() for one in found if one}
    if any(any(found) for found in replays.values()):
        made |= {f"assets/{file}": text for file, text in replay_scripts().items()}
    files = {path: text.encode() for path, text in made.items()}
    for task, samples in tasks.items():
        files |= _task(task, samples, [one for one in replays[task] if one], name)
    return {path: files[path] for path in sorted(files)}


def _replay(sample: Sample) -> dict[str, Any] | None:
    """What executes the runs of a sample again, and the script that brings it; None where no page can."""
    found = sample_replay(sample, EVERY)
    if found is None:
        return None
    replay, offers = found
    key = replay["key"]
    script = replay["scripts"] + runs_script(key, offers, replay)
    return {**replay, "label": sample.label, "file": file_name(key, ".js"), "script": script}


def _task(task: str, samples: Sequence[Sample], replays: Sequence[dict[str, Any]], name: str) -> dict[str, bytes]:
    key = file_name(task, "")
    figures = {f"{key}-{figure.kind}": figure for figure in task_figures(samples)}
    shown = [page_figure(figure, one, data=False) for one, figure in figures.items()]
    page = render("private_task.html", up="../", site_name=name, task=task, figures=shown, replays=replays)
    forms = {f"figures/{one}.{form}": FORMATS[form](made) for one, made in figures.items()
             for form in ("svg", "csv", "json")}  # fmt: skip
    return {f"tasks/{key}.html": page.encode(), **beside(forms)}


def _rows(samples: Sequence[Sample], replays: Sequence[dict[str, Any] | None]) -> list[dict[str, Any]]:
    return [
        {"brain": one.label, "dot": number(one.normalised), "score": stat(one.score),
         "value": None if one.score is None else round(one.score.mean, 6), "replay": replay["key"] if replay else "",
         "runs": f"{one.scores.values.size} of {one.runs}", "session": one.record.experiment_id if one.record else ""}
        for one, replay in zip(samples, replays, strict=True)
    ]  # fmt: skip
