"""Learners of other libraries as brains: ``nb.adapters.sb3(PPO)`` trains an algorithm of stable-baselines3.

An algorithm as it comes is found by its name too, ``nematodebench.adapters:PPO``, on the command line and by other
processes.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nematodebench.adapters.sb3_brain import SB3Brain

__all__ = ["sb3"]

_ALGORITHMS = ("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3")


def sb3(algorithm: type[Any], policy: str = "MlpPolicy", **settings: Any) -> "type[SB3Brain]":
    """A brain class that trains an algorithm of stable-baselines3, step by step in our own run loop.

    Args:
        algorithm: PPO, A2C, DQN, SAC, TD3, DDPG, or a class derived from one of them.
        policy: Name of the policy, as the algorithm takes it.
        **settings: Arguments of the algorithm. Numbers and words become defaults of the brain's config, where
            ``config`` and ``--set`` can change them; anything else is handed on as it is.
    """
    from nematodebench.adapters.sb3_brain import make_brain

    return make_brain(algorithm, policy, settings)


def __getattr__(name: str) -> Any:
    if name not in _ALGORITHMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import stable_baselines3

    return sb3(getattr(stable_baselines3, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_ALGORITHMS})
