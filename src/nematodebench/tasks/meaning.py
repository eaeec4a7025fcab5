"""What a task measures, in one sentence: what a brain needs to do well on it and can do badly without."""

from nematodebench.tasks.base import Task

__all__ = ["meaning"]

_MEANINGS = {
    "foraging": "How quickly and how directly a brain learns to go where the smell of food grows.",
    "foraging_small_klinotaxis": "How well a brain learns to steer by the difference of smell between left and right.",
    "foraging_medium_klinotaxis": "How well a brain learns to steer by the difference of smell between left and right.",
    "foraging_large_klinotaxis": "How well a brain learns to steer by the difference of smell between left and right.",
    "foraging_small_temporal": "How well a brain finds a direction from how the smell changes while it moves.",
    "foraging_medium_temporal": "How well a brain finds a direction from how the smell changes while it moves.",
    "foraging_large_temporal": "How well a brain finds a direction from how the smell changes while it moves.",
    "predator": "Whether a brain learns to feed and to stay away from hunters at once.",
    "chemotaxis_assay": "Whether a brain that learned to forage goes to an attractant rather than to its mirror image.",
    "wall": "Whether a brain keeps moving about a box without running into its walls.",
    "tracking": "How closely a brain keeps its gaze on a target that circles it.",
    "pong": "Whether a brain moves to where the ball is going to be, from the bearing of the ball.",
    "cartpole": "How long a brain balances an unstable pole.",
    "cartpole_swingup": "Whether a brain gathers the energy to swing a pole up, and then keeps it up.",
    "rhythm": "Whether a brain picks up a rhythm and goes on with it by itself.",
    "torus": "Nothing that is scored: it describes how agents that see each other move together.",
    "forage": "Whether agents that see each other and smell a source gather at it.",
    "plate_chemotaxis": "Whether a crawling worm finds a source by a smell that it senses with much noise.",
    "plate_aerotaxis": "Whether a crawling worm finds the oxygen it prefers, neither the most nor the least.",
    "plate_thermotaxis": "Whether a crawling worm finds back to a temperature, by memory or by its reward.",
    "bit_memory": "Whether a brain remembers one bit over a delay of distractors.",
    "navigation": "How quickly a brain learns to collect food and to avoid dangers that it sees along eight rays.",
    "pattern_memory": "Whether a brain repeats a sequence that it has just seen; without memory it can only guess.",
    "prediction": "How well a brain predicts the next value of a noisy signal.",
    "association": "How quickly a brain learns which answer belongs to which stimulus.",
    "gridworld": "How quickly a brain learns to walk to a food whose direction it is told.",
    "realtime": "How quickly a brain learns to collect food among dangers by rays alone.",
    "continual": "What a brain learns, keeps and transfers as one environment follows another.",
}


def meaning(task: Task) -> str:
    """The sentence of the task's family, or of its own where it has one; empty for tasks from outside."""
    names = [name for name in _MEANINGS if task.category == name or task.category.startswith(f"{name}_")]
    return _MEANINGS[max(names, key=len)] if names else ""
