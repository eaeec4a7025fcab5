"""``nematodebench watch``: see an episode of a run."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="watch")(watch)


def watch(
    what: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT|TASK", help="folder or JSON file of a stored session; or, with --brain, a task"
        ),
    ],
    run: Annotated[int, typer.Option("--run", min=0, help="number of the run, from 0")] = 0,
    episode: Annotated[
        int | None, typer.Option(min=0, help="number of the episode, from 0 [default: the last]")
    ] = None,
    phase: Annotated[str | None, typer.Option(help="phase of the run [default: the scored one]")] = None,
    brain: Annotated[str | None, typer.Option(help="run this brain on the task, nothing has to be stored")] = None,
    seed: Annotated[int | None, typer.Option(help="session seed of a new run [default: a fresh one]")] = None,
    episodes: Annotated[int | None, typer.Option(help="episodes of a new run, if not the task's own number")] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the brain of a new run")
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="write a GIF")] = None,
    mp4: Annotated[Path | None, typer.Option(help="write a film (extra `video`)")] = None,
    png: Annotated[Path | None, typer.Option(help="write a picture of the last moment")] = None,
    width: Annotated[int, typer.Option(help="of pictures, in pixels")] = 400,
    theme: Annotated[str, typer.Option(help="light or dark")] = "light",
    every: Annotated[int | None, typer.Option(help="steps from one picture of a film to the next")] = None,
    speed: Annotated[float | None, typer.Option(help="pictures a second [default: by the world]")] = None,
    trust_code: Annotated[bool, typer.Option("--trust-code", help="execute a brain that is somebody's code")] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Shows one episode: in the terminal, as GIF, film or picture. A stored run is executed again, and compared."""
    from nematodebench.cli.watch import WatchRequest, watch_command
    from nematodebench.sessions.config import parse_assignments
    from nematodebench.trajectories.watching import Wanted

    request = WatchRequest(
        what, Wanted(run, episode, phase), brain, seed, episodes, parse_assignments(assign or []), gif, mp4, png, width,
        theme, every, speed, trust_code,
    )  # fmt: skip
    if not watch_command(request, json=json):
        raise typer.Exit(1)
