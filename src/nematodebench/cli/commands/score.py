"""``nematodebench score``: measure a policy that was trained elsewhere, with learning off."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="score")(score)


def score(
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY...",
            help="a stable-baselines3 zip, .onnx, TorchScript (.pt), a NIR graph (.nir), or file.py:function",
        ),
    ],
    task: Annotated[str, typer.Option(help="task, see `nematodebench tasks`")],
    runs: Annotated[int, typer.Option(help="independent runs")] = 50,
    episodes: Annotated[int | None, typer.Option(help="episodes a run, if not the task's own number")] = None,
    seed: Annotated[
        int | None, typer.Option(help="session seed; a fresh one is drawn and recorded if not given")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample/--greedy", help="draw actions from the policy's probabilities, or take the best")
    ] = False,
    dt: Annotated[float | None, typer.Option(help="of a NIR graph: seconds of a step [default: 0.0001]")] = None,
    steps: Annotated[int | None, typer.Option(help="of a NIR graph: steps for each tick [default: 10]")] = None,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[str | None, typer.Option(help="threads, processes or ray [default: processes]")] = None,
    track: Annotated[bool, typer.Option("--track", help="store the session under experiments/")] = False,
    output: Annotated[
        Path | None, typer.Option(help="where to store the session [default: experiments]; implies --track")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and its cost, run nothing")] = False,
    json: Annotated[bool, typer.Option("--json", help="print the stored record instead of a table")] = False,
) -> None:
    """Scores policies that were trained elsewhere, with learning off, between chance and the reference."""
    from nematodebench.cli.score import ScoreRequest, score_command
    from nematodebench.policies.score import ScoreOptions

    options = ScoreOptions(
        runs=runs, episodes=episodes, seed=seed, sample=sample, dt=dt, steps=steps, workers=workers, executor=executor
    )  # fmt: skip
    request = ScoreRequest(
        policies=policies, task=task, options=options, track=track or output is not None,
        output=output or Path("experiments"), dry_run=dry_run,
    )  # fmt: skip
    if not score_command(request, json=json):
        raise typer.Exit(1)
