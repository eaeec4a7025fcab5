"""Writes the pictures of docs/figures/scenes: one of every world, and four films. The same code writes the same bytes.

python scripts/scene_pictures.py [--to DIR]
"""

import argparse
from pathlib import Path

from nematodebench.drawing.films import pictures, write_gif, write_png
from nematodebench.drawing.render import Renderer
from nematodebench.engine.tracing import TracedEpisode
from nematodebench.tasks.registry import all_tasks, get_task
from nematodebench.trajectories.replay import frames_of
from nematodebench.trajectories.watching import Wanted, see_run

FOLDER = Path(__file__).parents[1] / "docs" / "figures" / "scenes"
SEED, WIDTH, LONGEST = 7, 300, 60
FILM_WIDTH, FILM_LONGEST = 240, 36
FILMS = {
    "foraging_small-v2": ("mlp_ppo", 2, 499),
    "predator_small-v2": ("mlp_ppo", 2, 499),
    "cartpole_swingup-v2": ("null_random", 8, 0),
    "forage-v1": ("null_random", 8, 0),
}
"""Brain, steps from one picture to the next, and episode."""


def _task_of_every_world() -> dict[str, str]:
    """A task for each world, the latest version that uses it as what is scored."""
    return {type(task.world).__name__: name for name, task in sorted(all_tasks().items())}


def _episode(task: str, brain: str, number: int) -> TracedEpisode:
    return see_run(task, brain, Wanted(episode=number), seed=SEED).episode


def main() -> None:
    """Writes them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=FOLDER)
    folder = parser.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    for name in _task_of_every_world().values():
        episode = _episode(name, "null_random", 0)
        frames = list(frames_of(episode))[: LONGEST + 1]
        theme = "dark" if episode.phase.world.agents > 1 else "light"
        *_, last = pictures(Renderer(episode.phase.world, WIDTH, theme), frames, len(frames))
        write_png(folder / f"{episode.phase.world.name}.png", last)
        print(folder / f"{episode.phase.world.name}.png")
    for name, (brain, every, number) in FILMS.items():
        episode = _episode(name, brain, number)
        renderer = Renderer(episode.phase.world, FILM_WIDTH, caption=f"{name}  {brain}")
        frames = list(frames_of(episode))[: every * FILM_LONGEST + 1]
        place = folder / f"{get_task(name).category}.gif"
        write_gif(place, pictures(renderer, frames, every), 12.0, renderer.colours)
        print(place)


if __name__ == "__main__":
    main()
