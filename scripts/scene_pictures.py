"""Writes docs/figures/scenes: a picture of every world, light and dark, and films. The same code writes the same bytes.

python scripts/scene_pictures.py [--to DIR] [--films NAME,...]
"""

import argparse
from pathlib import Path

from nematodebench.drawing.films import pictures, write_gif, write_png
from nematodebench.drawing.render import Renderer
from nematodebench.engine.tracing import TracedEpisode
from nematodebench.tasks.registry import all_tasks
from nematodebench.trajectories.replay import frames_of
from nematodebench.trajectories.watching import Wanted, see_run

FOLDER = Path(__file__).parents[1] / "docs" / "figures" / "scenes"
SEED, WIDTH, LONGEST = 7, 300, 60
FILM_WIDTH, FILM_LONGEST = 300, 60
FILMS = {
    "foraging_small": ("foraging_small-v2", "mlp_ppo", 2, 499),
    "predator_small": ("predator_small-v2", "mlp_ppo", 2, 499),
    "foraging": ("foraging_large-v2", "gradient_follower", 2, 9),
    "predator": ("predator_large-v2", "gradient_follower", 2, 9),
    "chemotaxis": ("chemotaxis_assay-v1", "gradient_follower", 1, 0),
    "association": ("association-v2", "spiking_rstdp", 1, 24),
    "gridworld": ("gridworld-v3", "spiking_rstdp", 1, 99),
    "prediction": ("prediction-v2", "spiking_rstdp", 1, 14),
    "navigation": ("navigation-v2", "q_table", 2, 19),
    "pattern_memory": ("pattern_memory-v3", "gru_ppo", 1, 0),
    "realtime": ("realtime-v2", "q_table", 2, 24),
    "bit_memory": ("bit_memory_16-v1", "gru_ppo", 1, 0),
    "cartpole": ("cartpole-v2", "mlp_ppo", 3, 0),
    "cartpole_swingup": ("cartpole_swingup-v2", "mlp_ppo", 4, 0),
    "plate_aerotaxis": ("plate_aerotaxis-v1", "plate_follower", 3, 0),
    "plate_chemotaxis": ("plate_chemotaxis-v1", "plate_follower", 6, 0),
    "plate_thermotaxis": ("plate_thermotaxis-v1", "plate_follower", 8, 0),
    "pong": ("pong-v2", "mlp_ppo", 3, 0),
    "rhythm": ("rhythm-v1", "gru_ppo", 8, 0),
    "tracking": ("tracking-v1", "mlp_ppo", 3, 0),
    "wall": ("wall-v2", "mlp_ppo", 6, 0),
    "torus": ("torus-v1", "null_random", 6, 0),
    "forage": ("forage-v1", "null_random", 8, 0),
    "bit_memory_1": ("bit_memory_1-v1", "gru_ppo", 1, 0),
    "bit_memory_4": ("bit_memory_4-v1", "gru_ppo", 1, 0),
    "bit_memory_64": ("bit_memory_64-v1", "gru_ppo", 1, 0),
    "cartpole_hard": ("cartpole_hard-v2", "mlp_ppo", 3, 0),
    "cartpole_long": ("cartpole_long-v2", "mlp_ppo", 3, 0),
    "continual": ("continual-v1", "q_table", 2, 19),
    "foraging_large_klinotaxis": ("foraging_large_klinotaxis-v1", "gradient_follower", 3, 9),
    "foraging_large_temporal": ("foraging_large_temporal-v1", "gradient_follower", 3, 9),
    "foraging_medium": ("foraging_medium-v2", "gradient_follower", 2, 9),
    "foraging_medium_klinotaxis": ("foraging_medium_klinotaxis-v1", "gradient_follower", 3, 9),
    "foraging_medium_temporal": ("foraging_medium_temporal-v1", "gradient_follower", 3, 9),
    "foraging_small_klinotaxis": ("foraging_small_klinotaxis-v2", "gradient_follower", 2, 9),
    "foraging_small_temporal": ("foraging_small_temporal-v2", "q_table", 2, 499),
    "navigation_easy": ("navigation_easy-v3", "mlp_ppo", 2, 99),
    "navigation_hard": ("navigation_hard-v2", "q_table", 2, 19),
    "pattern_memory_easy": ("pattern_memory_easy-v3", "gru_ppo", 1, 0),
    "pattern_memory_hard": ("pattern_memory_hard-v3", "gru_ppo", 1, 0),
    "predator_medium": ("predator_medium-v2", "gradient_follower", 2, 9),
    "predator_small_klinotaxis": ("predator_small_klinotaxis-v2", "gradient_follower", 2, 9),
}
"""By the name of the file: task, brain, steps from one picture to the next, and episode."""


def _task_of_every_world() -> dict[str, str]:
    """A task for each world, the latest version that uses it as what is scored."""
    return {type(task.world).__name__: name for name, task in sorted(all_tasks().items())}


def _episode(task: str, brain: str, number: int) -> TracedEpisode:
    return see_run(task, brain, Wanted(episode=number), seed=SEED).episode


def main() -> None:
    """Writes them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=FOLDER)
    parser.add_argument("--films", help="only these films, and no pictures")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    if given.films is None:
        _write_pictures(given.to)
    for film in FILMS if given.films is None else given.films.split(","):
        _write_film(given.to, film)


def _write_pictures(folder: Path) -> None:
    """Every world in light and dark."""
    for name in _task_of_every_world().values():
        episode = _episode(name, "null_random", 0)
        frames = list(frames_of(episode))[: LONGEST + 1]
        for theme, place in (("light", folder), ("dark", folder / "dark")):
            place.mkdir(exist_ok=True)
            *_, last = pictures(Renderer(episode.phase.world, WIDTH, theme), frames, len(frames))
            write_png(place / f"{episode.phase.world.name}.png", last)
            print(place / f"{episode.phase.world.name}.png")


def _write_film(folder: Path, film: str) -> None:
    name, brain, every, number = FILMS[film]
    episode = _episode(name, brain, number)
    renderer = Renderer(episode.phase.world, FILM_WIDTH, caption=f"{name}  {brain}")
    frames = list(frames_of(episode))[: every * FILM_LONGEST + 1]
    place = folder / f"{film}.gif"
    write_gif(place, pictures(renderer, frames, every), 12.0, renderer.colours)
    print(place, flush=True)


if __name__ == "__main__":
    main()
