"""Control and collective tasks: effectors in [0, 1], anchored scores.

A run is a budget of experience, the same for every brain, then five scored episodes on new world streams in which the
brain stays as it is, learning included.
"""

from nematodebench.measures.anchored import ANCHORED
from nematodebench.measures.descriptive import DESCRIPTIVE
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.base import World
from nematodebench.worlds.control.cartpole import Cartpole, CartpoleSwingup
from nematodebench.worlds.control.pong import Pong
from nematodebench.worlds.control.rhythm import Rhythm
from nematodebench.worlds.control.tracking import Tracking
from nematodebench.worlds.control.wall import Wall
from nematodebench.worlds.swarm.forage import Forage
from nematodebench.worlds.swarm.torus import Torus

__all__ = ["ALIASES", "TASKS"]

_SCORED_EPISODES = 5


def _task(
    name: str, summary: str, world: World, budget: int, score_key: str, floor: float | None = None, gate: str = ""
) -> Task:
    scoring = ANCHORED if score_key else DESCRIPTIVE
    phases = (Phase("train", world, ticks=budget), Phase("scored", world, episodes=_SCORED_EPISODES))
    return Task(f"{name}-v1", summary, phases, "scored", scoring, score_key, floor=floor, gate=gate)


# Floors given here are exact: a gaze that knows nothing of the target is as often before it as behind it, and a pole
# that nobody balances falls.
TASKS = (
    _task("wall", "move about a box without touching its walls", Wall(), 100_000, "nav_score",
          gate="movement x coverage"),
    _task("tracking", "keep the gaze on a circling target", Tracking(), 72_000, "track_score", floor=0.0),
    _task("pong", "keep a ball in play by its bearing", Pong(), 200_000, "hit_rate"),
    _task("cartpole", "balance a pole", Cartpole(), 200_000, "balanced", floor=0.0),
    _task("cartpole_hard", "balance a longer pole within a narrower angle with less force",
          Cartpole(half_length=0.75, force=8.0, dead_zone=0.0, angle_limit=0.12, v_scale=5.0, angle_scale=0.12,
                   spin_scale=5.0, ticks=1500, window=1500),
          200_000, "balanced", floor=0.0),
    _task("cartpole_long", "balance a pole of twice the length",
          Cartpole(half_length=1.0, dead_zone=0.0, v_scale=5.0, spin_scale=5.0), 200_000, "balanced", floor=0.0),
    _task("cartpole_swingup", "swing a hanging pole up and keep it there", CartpoleSwingup(), 300_000,
          "mean_uprightness"),
    _task("rhythm", "pick up a rhythm and keep it when the pacemaker falls silent", Rhythm(), 100_000, "lock",
          gate="oscillation amplitude"),
    _task("torus", "eight agents see each other: descriptors only", Torus(), 20_000, ""),
    _task("forage", "eight agents look for one source (a swarm; the worm's tasks are called foraging)", Forage(),
          20_000, "forage_score"),
)  # fmt: skip

ALIASES = {"pong_hitrate-v1": "pong-v1", "pong_hitrate": "pong-v1"}
