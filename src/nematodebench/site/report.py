"""Reports of stored results: one self-contained page, or the same tables as Markdown and CSV."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nematodebench.board.text import escape, table
from nematodebench.errors import UsageError
from nematodebench.figures.kinds import figure_of, task_figures
from nematodebench.figures.samples import Sample, best_first
from nematodebench.figures.searching import search_history, search_importances
from nematodebench.figures.sources import Sources
from nematodebench.records.plain_text import plain, uncomputed
from nematodebench.site.cells import axis_lines, interval, number, stat, stored_stat
from nematodebench.site.continual_section import continual_section
from nematodebench.site.origins import origin_of, search_origin
from nematodebench.site.pages import page_figure, render, site_script, style_sheet
from nematodebench.site.replay import replay_scripts
from nematodebench.site.sample_replay import sample_replay
from nematodebench.site.sections import section_of

__all__ = ["html_report", "report_csv", "report_markdown"]

_READ = "Values are mean ± half the 95 % interval over runs; (!) marks intervals that may cover less."
_HARMLESS = re.compile(r"[\w .,;:±()!\[\]–%=+/-]*")


def html_report(sources: Sources) -> str:
    """One file that holds everything: tables, figures with their data, provenance, the command of every run."""
    from markupsafe import Markup

    sections = _sections(sources)
    scripts = [one["scripts"] for section in sections for one in section["replays"]]
    scripts += list(reversed(replay_scripts().values())) if scripts else []
    for k, section in enumerate(sections):
        section["figures"] = [
            page_figure(figure, f"f{k}-{n}-{figure.kind}", data=True) for n, figure in enumerate(section["figures"])
        ]
    return render(
        "report.html", title=_title(sources), lead=_lead(sources), sections=sections, up="", site_name="",
        replay_scripts=[Markup(text) for text in scripts],
        style=Markup(style_sheet()), script=Markup(site_script()),
    )  # fmt: skip


def _title(sources: Sources) -> str:
    names = list(dict.fromkeys([sample.label for sample in sources.samples]))
    names += [f"Search of {one['brain']}" for one in sources.searches]
    names += [f"{one['brain']}, continual" for one in sources.continual]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _lead(sources: Sources) -> str:
    runs = sum(sample.scores.values.size for sample in sources.samples)
    parts = []
    if sources.samples:
        parts.append(f"{runs} runs of {len(sources.samples)} brains or configurations on {', '.join(sources.tasks)}")
    if sources.searches:
        parts.append(f"{len(sources.searches)} search{'es' * (len(sources.searches) > 1)}")
    if sources.continual:
        parts += [f"{one['runs']} continual runs of {one['brain']}" for one in sources.continual]
    return f"{'; '.join(parts)}. {_READ}"


def _sections(sources: Sources) -> list[dict[str, Any]]:
    made = [_task_section(task, best_first(sources.of_task(task))) for task in sources.tasks]
    if len(sources.tasks) > 1:
        made.insert(0, _overview(sources))
    made += [_told(_search_section, result, "a search's result") for result in sources.searches]
    return made + [_told(continual_section, report, "a continual run's report") for report in sources.continual]


def _told(make: Callable[[Any], dict[str, Any]], content: dict[str, Any], what: str) -> dict[str, Any]:
    """A section of a file that anybody may have written: where it lacks something, that is said in a line."""
    try:
        return make(content)
    except UsageError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        why = plain(f"{type(error).__name__}: {error}", 100)
        raise UsageError(f"{content.get('place', 'A file')} is not {what}: {why}.") from error


def _overview(sources: Sources) -> dict[str, Any]:
    figures = []
    for kind in ("scores", "profiles"):
        try:
            figures.append(figure_of(kind, sources))
        except UsageError:
            continue
    lead = "All tasks beside each other. Scores of tasks with different kinds of ceilings are not averaged."
    return section_of("All tasks", lead, figures=figures)


def _task_section(task: str, samples: Sequence[Sample]) -> dict[str, Any]:
    first = samples[0].task
    notes = [f"{one.label}: {one.runs - one.scores.values.size} of {one.runs} runs are missing; they are not counted."
             for one in samples if one.scores.values.size < one.runs]  # fmt: skip
    if any(one.cell is not None for one in samples):
        notes.append("A sweep keeps no episodes, so its runs have no learning curves; stored sessions have.")
    return section_of(
        task, f"{first.summary[:1].upper()}{first.summary[1:]}. The score is {first.score_key or 'not defined'}.",
        tables=[_table(task, samples)], figures=task_figures(samples), notes=notes,
        facts=[origin_of(sample) for sample in samples if sample.record is not None or sample.cell is not None],
        replays=[{**found[0], "label": sample.label} for sample in samples if (found := sample_replay(sample, 1))],
    )  # fmt: skip


def _columns(samples: Sequence[Sample]) -> dict[str, str]:
    task = samples[0].task
    return task.scoring.columns(samples[0].metrics, task.gate) if samples[0].metrics else {}


def _table(task: str, samples: Sequence[Sample]) -> dict[str, Any]:
    columns = _columns(samples)
    header = ["brain", "runs", samples[0].task.score_key.replace("_", " ") or "score", "normalised", *columns.values()]
    rows = [{"cells": _cells(sample, columns), "dot": number(sample.normalised)} for sample in samples]
    anchored = any(row["dot"] for row in rows)
    return {"name": task, "header": header, "rows": rows, "dots": anchored, "lines": axis_lines(samples[0].anchors)}


def _cells(sample: Sample, columns: Mapping[str, str]) -> list[str]:
    done, norm = sample.scores.values.size, sample.normalised
    share = "–" if norm is None else interval(norm.unclamped, norm.ci95, norm.doubt)
    runs = str(done) if done == sample.runs else f"{done} of {sample.runs}"
    return [sample.label, runs, stat(sample.score), share, *(stat(sample.metrics.get(name)) for name in columns)]


def _search_section(result: Mapping[str, Any]) -> dict[str, Any]:
    rows = [{"cells": [name, _parameter(value)], "dot": None} for name, value in result["champion"].items()]
    kinds = ((search_history, "history"), (search_importances, "importances"))
    figures = [make(result) for make, key in kinds if result.get(key)]
    judged = [
        {"cells": [name, f"{result['search'][name]:.3f}", stored_stat(result[f"{name}_score"])], "dot": None}
        for name in ("champion", "default")
    ]
    tables = [
        {"name": "held-out seeds", "header": ["parameters", "search seeds", "held-out seeds"], "rows": judged},
        {"name": "champion", "header": ["parameter", "champion"], "rows": rows},
    ]
    return section_of(
        f"Search of {result['brain']} on {result['task']}", f"{str(result['verdict']).capitalize()}.",
        tables=[{**one, "dots": False, "lines": [], "narrow": True} for one in tables], figures=figures,
        notes=[f"Sampler {result['sampler']}, seed {result['seed']}, {result['runs']} runs a trial, "
               f"{result['held_out']} held-out seeds."],
        facts=search_origin(result),
    )  # fmt: skip


def _parameter(value: Any) -> str:
    """A parameter as a search found it, in four digits; its file ``best.yml`` has all."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def report_markdown(sources: Sources) -> str:
    """The tables as Markdown."""
    sections = _sections(sources)
    lines = [f"# {_plain(_title(sources))}", "", _plain(_lead(sources))]
    for section in sections:
        if not section["tables"]:  # figures alone, which Markdown does not hold
            continue
        lines += ["", f"## {_plain(section['title'])}", "", _plain(section["lead"])]
        for one in section["tables"]:
            rows = [[_plain(str(cell)) for cell in row["cells"]] for row in one["rows"]]
            lines += ["", *table([_plain(name) for name in one["header"]], rows)]
        lines += [f"\n{_plain(note)}" for note in section["notes"]]
        for facts in section["facts"]:
            lines += ["", f"### {_plain(facts['title'])}", ""]
            lines += [f"- {name}: {_plain(str(value))}" for name, value in facts["lines"]]
            lines += ["", *(f"    {command}" for command in _commands(facts))]
    return "\n".join(lines) + "\n"


def _commands(facts: Mapping[str, Any]) -> list[str]:
    """One for each run; where there are no runs, those of the whole."""
    return [row[4] for row in facts["runs"]] or list(facts["commands"])


def _plain(text: str) -> str:
    """Words as they are, where nothing in them means anything to Markdown or HTML."""
    return text if _HARMLESS.fullmatch(text) and "](" not in text else escape(text)


def report_csv(sources: Sources) -> str:
    """One row for each run of sessions and sweeps: brain, task, seed, score and normalised score."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", "brain", "seed", "score", "normalised"])
    for sample in sources.samples:
        anchors = sample.anchors
        for seed, value in zip(sample.scores.seeds, sample.scores.values.tolist(), strict=True):
            share = (
                "" if anchors is None else (value - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value)
            )
            writer.writerow([sample.task.id, uncomputed(sample.label), seed, value, share])
    return out.getvalue()
