"""Shows one episode of a run: in the terminal, as a GIF, as a film or as a picture of its last moment."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.cli.player import can_play, play
from nematodebench.cli.printing import print_json, printable
from nematodebench.drawing.films import MOST_FRAMES, check_place, pictures, write_gif, write_mp4, write_png
from nematodebench.drawing.render import Renderer
from nematodebench.drawing.terminal import moment_in_terminal
from nematodebench.errors import UsageError
from nematodebench.tasks.registry import all_tasks
from nematodebench.trajectories.replay import frames_of, texts_of
from nematodebench.trajectories.watching import Seen, Wanted, see_run, see_stored

__all__ = ["WatchRequest", "watch_command"]

_GIF_FRAMES = 25.0
_SCREEN_WIDTH = 640


@dataclass(frozen=True)
class WatchRequest:
    """What ``watch`` was asked for."""

    what: str
    wanted: Wanted
    brain: str | None
    seed: int | None
    episodes: int | None
    config: dict[str, Any]
    gif: Path | None
    mp4: Path | None
    png: Path | None
    width: int
    theme: str
    every: int | None
    speed: float | None
    trust_code: bool


def _see(request: WatchRequest) -> Seen:
    if request.brain is not None:
        return see_run(
            request.what, request.brain, request.wanted, seed=request.seed, episodes=request.episodes,
            config=request.config,
        )  # fmt: skip
    if request.what in all_tasks() and not Path(request.what).exists():
        raise UsageError(f"{request.what} is a task: say whose run is shown, with --brain NAME.")
    if request.seed is not None or request.episodes is not None or request.config:
        raise UsageError("--seed, --episodes and --set are for a new run: give a task, and --brain NAME.")
    return see_stored(Path(request.what), request.wanted, request.trust_code)


def _check(request: WatchRequest) -> None:
    """Everything that can be wrong is told before the run is executed."""
    places = ((request.gif, ".gif"), (request.mp4, ".mp4"), (request.png, ".png"))
    for path, ending in places:
        if path is not None:
            check_place(path, ending)
    if request.mp4 is not None:
        import imageio_ffmpeg  # noqa: F401  (a missing extra is told now)
    if request.every is not None and request.every < 1:
        raise UsageError(f"--every is {request.every}: give at least 1.")
    if request.speed is not None and not 0.0 < request.speed < math.inf:
        raise UsageError(f"--speed is {request.speed:g}: give a number above 0.")


def _summary(request: WatchRequest, seen: Seen) -> dict[str, Any]:
    episode, world = seen.episode, seen.episode.phase.world
    first_metric = episode.outcome.shape[1] - len(world.metrics)
    metrics = dict(zip(world.metrics, episode.outcome[-1, first_metric:].tolist(), strict=True))
    return {
        "task": seen.task.id, "brain": seen.brain, "run": request.wanted.run, "seed": seen.seed,
        "phase": episode.phase.name, "episode": episode.number, "steps": episode.steps,
        "reward": float(episode.reward.mean(axis=1).sum()), "terminated": bool(episode.terminated[-1]),
        "metrics": metrics, "record_hash": seen.result.record_hash,
        "identical": None if seen.difference is None else not seen.difference,
    }  # fmt: skip


def _caption(facts: dict[str, Any]) -> str:
    return f"{facts['task']}  {facts['brain']}  run {facts['run']}, {facts['phase']} episode {facts['episode']}"


def watch_command(request: WatchRequest, *, json: bool) -> bool:
    """Shows the episode; False if the run is not the stored one any more."""
    _check(request)
    seen = _see(request)
    facts = _summary(request, seen)
    written = _write_files(request, seen, _caption(facts))
    if json:
        print_json({**facts, "written": written})
        return not seen.difference
    if not written and can_play():
        _play(request, seen, _caption(facts))
    elif not written:
        print(list(texts_of(seen.episode))[-1], end="\n\n")
    _print(facts, written, seen.difference)
    return not seen.difference


def _write_files(request: WatchRequest, seen: Seen, caption: str) -> list[str]:
    """Writes what was asked for; returns the places."""
    wanted = [path for path in (request.gif, request.mp4, request.png) if path is not None]
    if not wanted:
        return []
    frames, world = list(frames_of(seen.episode)), seen.episode.phase.world
    renderer = Renderer(world, request.width, request.theme, caption)
    every = request.every or math.ceil(len(frames) / MOST_FRAMES)
    speed = request.speed or float(world.picture().frames)
    if request.gif is not None:
        # A GIF cannot be faster than this everywhere: of a faster one pictures are left out.
        thinned = every * max(1, math.ceil(speed / _GIF_FRAMES)) if request.every is None else every
        write_gif(request.gif, pictures(renderer, frames, thinned), min(speed, _GIF_FRAMES), renderer.colours)
    if request.mp4 is not None:
        write_mp4(request.mp4, pictures(renderer, frames, every), speed)
    if request.png is not None:
        *_, last = pictures(renderer, frames, len(frames))
        write_png(request.png, last)
    return [str(path) for path in wanted]


def _play(request: WatchRequest, seen: Seen, caption: str) -> None:
    frames, world = list(frames_of(seen.episode)), seen.episode.phase.world
    renderer = Renderer(world, _SCREEN_WIDTH, request.theme)

    def draw(moment: int, columns: int, lines: int) -> str:
        renderer.clear()
        for frame in frames[: moment + 1]:
            renderer.see(frame)
        return moment_in_terminal(renderer, frames[moment], printable(caption), columns, lines)

    play(draw, len(frames), request.speed or float(world.picture().frames))


def _print(facts: dict[str, Any], written: list[str], difference: str | None) -> None:
    print(printable(f"{_caption(facts)}: {facts['steps']} steps, reward {facts['reward']:.3f}"))
    print(printable("  ".join(f"{name} {value:.4g}" for name, value in facts["metrics"].items())))
    for place in written:
        print(printable(f"written: {place}"))
    if difference is not None:
        print(
            printable(f"DIFFERENT from the stored run: {difference}" if difference else "IDENTICAL to the stored run")
        )
