"""``nematodebench continual``: one brain through all environments, next to chance."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="continual")(continual)


def continual(
    brain: Annotated[str, typer.Argument(help="brain, see `nematodebench brains`, or module:Class")] = "",
    order: Annotated[str, typer.Option(help="environments, separated by commas [default: all six]")] = "",
    episodes: Annotated[
        str, typer.Option(help="one number for all, or like navigation=40,gridworld=60 [default: the tasks' own]")
    ] = "",
    profile: Annotated[str, typer.Option(help="nenv-v2 or calibrated: whose scores the table shows")] = "nenv-v2",
    runs: Annotated[int, typer.Option(help="independent runs")] = 50,
    seed: Annotated[int | None, typer.Option(help="session seed; a fresh one is drawn if not given")] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the brain")
    ] = None,
    test_episodes: Annotated[int, typer.Option(min=0, help="episodes of each test of a copy; 0: no matrix")] = 10,
    alone: Annotated[bool, typer.Option(help="also learn each environment alone, for forward transfer")] = True,
    twin: Annotated[
        bool, typer.Option("--twin", help="also run the brain with learning off, and print what it gained")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="go on with a command that was stopped")] = None,
    output: Annotated[
        Path | None, typer.Option(help="file for all numbers, which `report` and `plot transfer` read")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="all numbers, with learning curves, for machines")] = False,
) -> None:
    """One brain, created once, goes through all environments: scores of both profiles, transfer, forgetting.

    Every primary score stands next to the null policy's under the same settings; the anchored value is
    (primary - null) / (1 - null). Under nenv-v2 a perfectly constant reward has norm_reward 0, so 1.0 is out of reach.
    """
    from nematodebench.cli.continual import ContinualRequest, continual_command

    request = ContinualRequest(
        brain=brain,
        order=order,
        episodes=episodes,
        profile=profile,
        runs=runs,
        seed=seed,
        assign=assign or [],
        test_episodes=test_episodes,
        alone=alone,
        twin=twin,
        workers=workers,
        executor=executor,
        resume=resume,
        output=output,
    )
    if not continual_command(request, json=json):
        raise typer.Exit(1)
