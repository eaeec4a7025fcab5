"""The private board of a laboratory: its own stored sessions, nothing verified, task by task."""

from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.kinds import task_figures
from nematodebench.figures.render import FORMATS
from nematodebench.figures.samples import Sample
from nematodebench.figures.sources import Sources
from nematodebench.site.cells import axis_lines, number, stat
from nematodebench.site.entries import file_name
from nematodebench.site.pages import beside, page_figure, render, site_script, style_sheet

__all__ = ["build_private_site"]


def build_private_site(sources: Sources, name: str) -> dict[str, bytes]:
    """Every file of the site, by its path."""
    if not sources.samples:
        raise UsageError("There are no stored sessions to make a board of.")
    made = {"assets/site.css": style_sheet(), "assets/site.js": site_script(), "index.html": _index(sources, name)}
    files = {path: text.encode() for path, text in made.items()}
    for task in sources.tasks:
        samples, key = sources.of_task(task), file_name(task, "")
        figures = {f"{key}-{figure.kind}": figure for figure in task_figures(samples)}
        shown = [page_figure(figure, one, data=False) for one, figure in figures.items()]
        page = render("private_task.html", up="../", site_name=name, task=task, figures=shown,
                      rows=_rows(samples), lines=axis_lines(samples[0].anchors))  # fmt: skip
        files[f"tasks/{key}.html"] = page.encode()
        for one, figure in figures.items():
            files |= beside({f"figures/{one}.{form}": FORMATS[form](figure) for form in ("svg", "csv", "json")})
    return {path: files[path] for path in sorted(files)}


def _index(sources: Sources, name: str) -> str:
    groups = [
        {"task": task, "file": f"{file_name(task)}", "rows": _rows(sources.of_task(task)),
         "lines": axis_lines(sources.of_task(task)[0].anchors)}
        for task in sources.tasks
    ]  # fmt: skip
    return render("private.html", up="", site_name=name, groups=groups)


def _rows(samples: list[Sample]) -> list[dict[str, Any]]:
    best = sorted(samples, key=lambda one: -(one.score.mean if one.score else float("-inf")))
    return [
        {"brain": one.label, "dot": number(one.normalised), "score": stat(one.score),
         "value": None if one.score is None else round(one.score.mean, 6),
         "runs": f"{one.scores.values.size} of {one.runs}", "session": one.record.experiment_id if one.record else ""}
        for one in best
    ]  # fmt: skip
