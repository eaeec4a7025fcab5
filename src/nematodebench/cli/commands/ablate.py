"""``nematodebench ablate``: what each mechanism of a brain is worth."""

from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="ablate")(ablate)


def ablate(
    brain: Annotated[str, typer.Argument(help="brain whose parameters say what switches them off")] = "",
    task: Annotated[str, typer.Option(help="task, or `continual`")] = "foraging_small-v2",
    runs: Annotated[int, typer.Option(help="runs of the full brain and of every ablation, on the same seeds")] = 20,
    episodes: Annotated[int | None, typer.Option(help="episodes a run, if not the task's own number")] = None,
    seed: Annotated[int | None, typer.Option(help="session seed; a fresh one is drawn if not given")] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the full brain")
    ] = None,
    only: Annotated[str, typer.Option(help="mechanisms, separated by commas [default: all]")] = "",
    profile: Annotated[str, typer.Option(help="of `continual`: nenv-v2 or calibrated")] = "calibrated",
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="go on with a command that was stopped")] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Switches mechanisms off one by one under paired seeds; differences with intervals, the costliest loss first."""
    from nematodebench.cli.search import AblationRequest, ablate_command

    request = AblationRequest(
        brain=brain,
        task=task,
        runs=runs,
        episodes=episodes,
        seed=seed,
        assign=assign or [],
        only=only,
        profile=profile,
        workers=workers,
        executor=executor,
        resume=resume,
    )
    ablate_command(request, json=json)
