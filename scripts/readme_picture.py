"""Draws the README's moving picture: an episode of a trained worm on ``foraging_small-v2``.

``python scripts/readme_picture.py`` trains one run from a fixed seed and writes ``docs/figures/foraging.gif``.
"""

from pathlib import Path
from typing import Any

import gymnasium
from PIL import Image

import nematodebench as nb

TARGET = Path(__file__).resolve().parents[1] / "docs" / "figures" / "foraging.gif"
TASK, BRAIN, SEED, EPISODE = "foraging_small-v2", "mlp_ppo", 3, 7
STEPS, EVERY, WIDTH, COLOURS = 100, 3, 320, 128


def frames() -> list[Any]:
    """Every third moment of the episode."""
    worm = nb.run(TASK, BRAIN, runs=1, seed=SEED).runs[0].brain()
    world = gymnasium.make(f"nematodebench/{TASK}", render_mode="rgb_array")
    observation, _ = world.reset(seed=EPISODE)
    worm.begin_episode()
    found = [world.render()]
    for step in range(STEPS):
        observation, _, terminated, truncated, _ = world.step(worm.act(observation))
        if step % EVERY == 0:
            found.append(world.render())
        if terminated or truncated:
            break
    return found


def main() -> None:
    """Entry point."""
    pictures = [Image.fromarray(frame) for frame in frames()]
    size = (WIDTH, pictures[0].height * WIDTH // pictures[0].width)
    small = [one.resize(size, Image.Resampling.LANCZOS) for one in pictures]
    palette = small[len(small) // 2].quantize(COLOURS, Image.Quantize.MAXCOVERAGE)  # small things keep their colours
    plain = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in small]
    plain[0].save(TARGET, save_all=True, append_images=plain[1:], duration=160, loop=0, optimize=True)
    print(f"{TARGET.name}: {len(plain)} frames, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
