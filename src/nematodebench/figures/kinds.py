"""The figures by name, and which of them a set of results can have."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nematodebench.errors import UsageError, near_names
from nematodebench.figures.comparing import improvement_matrix, performance_profiles
from nematodebench.figures.composite import composite_parts
from nematodebench.figures.curves import learning_curves
from nematodebench.figures.figure import Figure
from nematodebench.figures.samples import Sample
from nematodebench.figures.scores import run_scores, score_dots
from nematodebench.figures.searching import search_history, search_importances
from nematodebench.figures.sources import Sources
from nematodebench.figures.transfer import transfer_matrix

__all__ = ["KINDS", "all_figures", "figure_of", "task_figures"]

_OF_SAMPLES: dict[str, Callable[[Sequence[Sample]], Figure]] = {
    "curves": learning_curves, "scores": score_dots, "runs": run_scores, "composite": composite_parts,
    "profiles": performance_profiles, "improvement": improvement_matrix,
}  # fmt: skip
_OF_SEARCHES: dict[str, Callable[[dict[str, Any]], Figure]] = {
    "search": search_history,
    "importances": search_importances,
}
_OF_CONTINUAL: dict[str, Callable[[dict[str, Any]], Figure]] = {"transfer": transfer_matrix}
KINDS = (*_OF_SAMPLES, *_OF_SEARCHES, *_OF_CONTINUAL)
"""What ``nematodebench plot`` can draw."""


def figure_of(kind: str, sources: Sources) -> Figure:
    """The figure of a kind; UsageError says what it would need."""
    if kind in _OF_SAMPLES:
        if not sources.samples:
            raise UsageError(f"A figure of {kind} needs stored sessions or a sweep.")
        return _OF_SAMPLES[kind](sources.samples)
    table, found, what = (
        (_OF_SEARCHES, sources.searches, "the folder of a search") if kind in _OF_SEARCHES
        else (_OF_CONTINUAL, sources.continual, "the file that `nematodebench continual --output` writes")
    )  # fmt: skip
    if kind not in table:
        raise UsageError(
            f"Figure {kind!r} does not exist. {near_names(kind, KINDS) or 'There are: ' + ', '.join(KINDS)}"
        )
    if len(found) != 1:
        raise UsageError(f"A figure of {kind} needs {what}, one of them; {len(found)} were named.")
    return table[kind](found[0])


def _possible(make: Callable[[Any], Figure], data: Any) -> Iterator[Figure]:
    """The figure, where the data have what it needs."""
    try:
        yield make(data)
    except UsageError:
        return


def task_figures(samples: Sequence[Sample]) -> list[Figure]:
    """Every figure that the samples of one task can have."""
    kinds = [make for name, make in _OF_SAMPLES.items() if name != "scores"]
    return [figure for make in kinds for figure in _possible(make, samples)]


def all_figures(sources: Sources) -> list[Figure]:
    """Every figure of everything: by task, over tasks, of searches and of continual runs."""
    figures = [figure for task in sources.tasks for figure in task_figures(sources.of_task(task))]
    for result in sources.searches:
        figures += [figure for make in _OF_SEARCHES.values() for figure in _possible(make, result)]
    for report in sources.continual:
        figures += [figure for make in _OF_CONTINUAL.values() for figure in _possible(make, report)]
    return figures
