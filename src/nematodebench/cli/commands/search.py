"""``nematodebench search``: find better parameters of a brain, and say whether they hold up."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="search")(search)


def search(
    brain: Annotated[str, typer.Argument(help="brain with a declared search space")],
    task: Annotated[str, typer.Option(help="task to be good at, or `continual`")],
    trials: Annotated[int, typer.Option(help="configurations to try, those before a resumption included")] = 50,
    sampler: Annotated[str, typer.Option(help="tpe, cmaes, random, grid or nsga2")] = "tpe",
    importance: Annotated[str, typer.Option(help="least important parameters to search: high, medium or low")] = "low",
    runs: Annotated[int, typer.Option(help="seeds of every trial, the same for all")] = 8,
    held_out: Annotated[int, typer.Option(help="seeds never used in the search that judge the champion")] = 30,
    episodes: Annotated[int | None, typer.Option(help="episodes a run, if not the task's own number")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the sampler and of the runs")] = 0,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter to fix for all trials")
    ] = None,
    prune: Annotated[bool, typer.Option(help="give up trials below the median of the others")] = True,
    patience: Annotated[int, typer.Option(help="stop after so many trials without a better one; 0: never")] = 0,
    profile: Annotated[str, typer.Option(help="of `continual`: nenv-v2 or calibrated")] = "calibrated",
    storage: Annotated[
        str,
        typer.Option(help="journal file, or a URL like postgresql://user@host/name [default: in the output folder]"),
    ] = "",
    study: Annotated[str, typer.Option(help="name in the storage [default: from brain, task and sampler]")] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="continue a search, also next to other processes that are at it")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="folder for results [default: searches/STUDY]")] = None,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Searches a brain's declared space with common seeds, then judges the champion on seeds it has never seen.

    Champion and default are run again on held-out seeds; unless the whole 99 % interval of their paired difference is
    above 0, the answer is "no improvement". The storage is Optuna's: optuna-dashboard shows it.
    """
    from nematodebench.cli.search import SearchRequest, search_command

    request = SearchRequest(
        brain=brain,
        task=task,
        trials=trials,
        sampler=sampler,
        importance=importance,
        runs=runs,
        held_out=held_out,
        episodes=episodes,
        seed=seed,
        assign=assign or [],
        prune=prune,
        patience=patience,
        profile=profile,
        storage=storage,
        study=study,
        resume=resume,
        output=output,
        workers=workers,
        executor=executor,
    )
    search_command(request, json=json)
