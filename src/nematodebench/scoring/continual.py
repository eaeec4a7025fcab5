"""Scores of one agent going through all continual environments (EVALUATION.md, continual learning).

Two profiles: `nenv-v2` follows the published formulas, where a perfectly constant reward has a norm_reward of 0, so
that 1.0 is out of reach; `calibrated` reads rewards against the anchors instead. Neither means anything without the
null policy's own primary score beside it: see `anchored_primary`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.scoring.anchors import ScoreAnchor, anchor_gap, anchor_value, clamp
from nematodebench.stats.checks import FloatArray, number, require_unit, vector

__all__ = [
    "ENVIRONMENT_WEIGHTS",
    "PROFILES",
    "THRESHOLD_SHARES",
    "ContinualScore",
    "EnvironmentTerms",
    "Profile",
    "ProfileName",
    "adjusted_score",
    "anchored_primary",
    "continual_score",
    "energy_efficiency",
    "environment_score",
    "environment_terms",
    "learning_term",
    "primary_score",
    "reward_learning_speed",
    "reward_term",
    "success_threshold",
    "weighted_score",
]

ProfileName: TypeAlias = Literal["nenv-v2", "calibrated"]
Anchor: TypeAlias = float | ScoreAnchor
Values: TypeAlias = Mapping[str, float] | Sequence[float] | FloatArray

THRESHOLD_SHARES = {
    "navigation": 0.30,
    "pattern_memory": 0.40,
    "prediction": 0.20,
    "association": 0.35,
    "gridworld": 0.30,
    "realtime": 0.30,
}
ENVIRONMENT_WEIGHTS = {
    "navigation": 0.35,
    "pattern_memory": 0.25,
    "prediction": 0.25,
    "association": 0.15,
    "gridworld": 0.10,
    "realtime": 0.10,
}


@dataclass(frozen=True)
class Profile:
    """Weights of an environment's terms, the share of `weighted` in the primary score, and which reward is meant."""

    success: float
    reward: float
    stability: float
    learning: float
    weighted_share: float
    anchored: bool


PROFILES: dict[ProfileName, Profile] = {
    "nenv-v2": Profile(0.60, 0.25, 0.15, 0.0, weighted_share=0.5, anchored=False),
    "calibrated": Profile(0.50, 0.30, 0.10, 0.10, weighted_share=0.65, anchored=True),
}


def success_threshold(floor: Anchor, ceiling: Anchor, share: float) -> float:
    """The reward from which an episode counts as a success: floor + share (ceiling - floor)."""
    low = anchor_value(floor)
    return low + number("share", share, 0.0, 1.0) * anchor_gap(low, anchor_value(ceiling))


def reward_learning_speed(rewards: ArrayLike, floor: Anchor, ceiling: Anchor) -> float:
    """Mean reward of the second half of the episodes minus that of the first, in units of the anchors' gap."""
    array = vector("rewards", rewards, least=2)
    half = array.size // 2
    gain = float(array[half:].mean() - array[:half].mean())
    return gain / anchor_gap(anchor_value(floor), anchor_value(ceiling))


def learning_term(learning_speed: float) -> float:
    """Learning speed mapped from [-0.1, 0.1] to [0, 1]: no change is one half."""
    return clamp((number("learning_speed", learning_speed) + 0.1) / 0.2)


def reward_term(mean_reward: float) -> float:
    """Mean reward mapped from [-10, 10] to [0, 1], for the adjusted score of `nenv-v2`."""
    return clamp((number("mean_reward", mean_reward) + 10.0) / 20.0)


def energy_efficiency(norm_reward: float, spent: float, budget: float) -> float:
    """Normalised reward per share of the energy budget spent, in [0, 1]; reward at no expense is 1, no reward is 0."""
    share = number("spent", spent, low=0.0) / number("budget", budget, low=np.finfo(float).tiny)
    reward = clamp(number("norm_reward", norm_reward))
    if share == 0.0:
        return float(reward > 0.0)
    return clamp(reward / share)


@dataclass(frozen=True)
class EnvironmentTerms:
    """What one environment contributes.

    Attributes:
        success_rate: Share of episodes at or above the threshold.
        mean_reward: Raw.
        range_reward: Mean reward within the agent's own worst and best episode (`nenv-v2`).
        stability: 1 - std / (|mean| + 1), in [0, 1].
        anchored_reward: Mean reward between floor and ceiling, not clamped; None if no anchors were given.
        learning_speed: See `reward_learning_speed`; None if no anchors were given.
    """

    success_rate: float
    mean_reward: float
    range_reward: float
    stability: float
    anchored_reward: float | None = None
    learning_speed: float | None = None

    def score(self, profile: ProfileName = "nenv-v2") -> float:
        """The environment's score under a profile."""
        weights = _profile(profile)
        if not weights.anchored:
            reward, learning = self.range_reward, 0.0
        else:
            reward, learning = clamp(_given(self.anchored_reward)), learning_term(_given(self.learning_speed))
        return (
            weights.success * self.success_rate
            + weights.reward * reward
            + weights.stability * self.stability
            + weights.learning * learning
        )


def environment_terms(
    rewards: ArrayLike, threshold: float, floor: Anchor | None = None, ceiling: Anchor | None = None
) -> EnvironmentTerms:
    """Compute an environment's terms from its episode rewards, in order (at least two)."""
    array = vector("rewards", rewards, least=2)
    mean, worst, best = float(array.mean()), float(array.min()), float(array.max())
    anchored = learning = None
    if floor is not None and ceiling is not None:
        low = anchor_value(floor)
        anchored = (mean - low) / anchor_gap(low, anchor_value(ceiling))
        learning = reward_learning_speed(array, floor, ceiling)
    return EnvironmentTerms(
        success_rate=float((array >= number("threshold", threshold)).mean()),
        mean_reward=mean,
        range_reward=max(0.0, (mean - worst) / (best - worst + 0.01)),
        stability=1.0 - min(float(array.std(ddof=1)) / (abs(mean) + 1.0), 1.0),
        anchored_reward=anchored,
        learning_speed=learning,
    )


def environment_score(
    rewards: ArrayLike,
    threshold: float,
    profile: ProfileName = "nenv-v2",
    floor: Anchor | None = None,
    ceiling: Anchor | None = None,
) -> float:
    """One environment's score from its episode rewards; `calibrated` needs the floor and the ceiling."""
    return environment_terms(rewards, threshold, floor, ceiling).score(profile)


def weighted_score(scores: Values, weights: Values) -> float:
    """sum(w * score) / sum(w), of two mappings by environment name or of two sequences."""
    values, shares = _aligned(scores, weights)
    require_unit("scores", values)
    return _weighted_mean(values, shares)


def adjusted_score(
    norm_reward: float,
    success_rate: float,
    stability: float,
    learning: float,
    efficiency: float | None = None,
) -> float:
    """.35 reward + .30 success + .15 stability + .10 learning + .10 efficiency, each term clamped to [0, 1].

    Args:
        norm_reward: `reward_term` of the mean reward (`nenv-v2`) or the anchored reward (`calibrated`).
        success_rate: Share of successful episodes.
        stability: Mean of the environments' stability.
        learning: `learning_term` of the learning speed.
        efficiency: `energy_efficiency`; None for a brain without an energy account: the other weights share its part.
    """
    terms = {
        "norm_reward": (0.35, norm_reward),
        "success_rate": (0.30, success_rate),
        "stability": (0.15, stability),
        "learning": (0.10, learning),
    }
    if efficiency is not None:
        terms["efficiency"] = (0.10, efficiency)
    values = np.array([clamp(number(name, term)) for name, (_, term) in terms.items()])
    return _weighted_mean(values, np.array([weight for weight, _ in terms.values()]))


def primary_score(weighted: float, adjusted: float, profile: ProfileName = "nenv-v2") -> float:
    """The mean of both (`nenv-v2`), or .65 weighted + .35 adjusted (`calibrated`)."""
    share = _profile(profile).weighted_share
    return share * number("weighted", weighted, 0.0, 1.0) + (1.0 - share) * number("adjusted", adjusted, 0.0, 1.0)


def anchored_primary(primary: float, null_primary: float) -> float:
    """(primary - null) / (1 - null), not clamped: the null policy itself is 0, worse than chance is negative."""
    null = number("null_primary", null_primary, 0.0, 1.0)
    if null == 1.0:
        raise ValueError("null_primary is 1: chance cannot be beaten, check how it was measured")
    return (number("primary", primary, 0.0, 1.0) - null) / (1.0 - null)


@dataclass(frozen=True)
class ContinualScore:
    """A continual run's scores under one profile.

    Attributes:
        profile: Its name.
        environments: Score per environment.
        weighted: Their weighted mean.
        adjusted: Score of the global terms.
        primary: What is ranked on, next to the null policy's own.
        has_energy_term: False if the brain keeps no energy account; reports say so.
        null_primary: The null policy's primary score under the same profile, if given.
        anchored: (primary - null) / (1 - null), if the null is given.
    """

    profile: ProfileName
    environments: dict[str, float]
    weighted: float
    adjusted: float
    primary: float
    has_energy_term: bool
    null_primary: float | None
    anchored: float | None


def continual_score(
    environments: Mapping[str, EnvironmentTerms],
    profile: ProfileName = "nenv-v2",
    efficiency: float | None = None,
    null_primary: float | None = None,
    weights: Mapping[str, float] = ENVIRONMENT_WEIGHTS,
) -> ContinualScore:
    """Score one continual run; every global term is the weighted mean over its environments, never across them.

    Args:
        environments: `environment_terms` by environment name, computed with anchors.
        profile: "nenv-v2" or "calibrated".
        efficiency: `energy_efficiency` of the run; None for a brain without an energy account.
        null_primary: The null policy's primary score under this profile.
        weights: By environment name.
    """
    scores = {name: terms.score(profile) for name, terms in environments.items()}

    def mean(term: Mapping[str, float]) -> float:
        return _weighted_mean(*_aligned(term, weights))

    if _profile(profile).anchored:
        reward = mean({name: _given(terms.anchored_reward) for name, terms in environments.items()})
    else:
        reward = reward_term(mean({name: terms.mean_reward for name, terms in environments.items()}))
    adjusted = adjusted_score(
        reward,
        mean({name: terms.success_rate for name, terms in environments.items()}),
        mean({name: terms.stability for name, terms in environments.items()}),
        learning_term(mean({name: _given(terms.learning_speed) for name, terms in environments.items()})),
        efficiency,
    )
    weighted = weighted_score(scores, weights)
    primary = primary_score(weighted, adjusted, profile)
    anchored = None if null_primary is None else anchored_primary(primary, null_primary)
    return ContinualScore(profile, scores, weighted, adjusted, primary, efficiency is not None, null_primary, anchored)


def _profile(name: ProfileName) -> Profile:
    if name not in PROFILES:
        raise ValueError(f"profile is {name!r}: pass {' or '.join(map(repr, PROFILES))}")
    return PROFILES[name]


def _given(term: float | None) -> float:
    if term is None:
        raise ValueError("floor and ceiling are missing: pass both to environment_terms for this score")
    return term


def _aligned(values: Values, weights: Values) -> tuple[FloatArray, FloatArray]:
    """Values and weights as arrays of one order; of mappings, every value needs its weight."""
    if isinstance(values, Mapping) and isinstance(weights, Mapping):
        missing = sorted(set(values) - set(weights))
        if missing:
            raise ValueError(f"weights lacks {', '.join(missing)}: pass a weight for every score")
        pairs = [(value, weights[name]) for name, value in values.items()]
        return vector("scores", [value for value, _ in pairs]), vector("weights", [weight for _, weight in pairs])
    # A mapping beside a sequence has no common order: its names are refused as not numeric.
    return vector("scores", list(values)), vector("weights", list(weights))


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    if values.size != weights.size or weights.min() < 0.0 or weights.sum() <= 0.0:
        raise ValueError("weights does not fit: pass one weight >= 0 per score, not all of them 0")
    return float(weights @ values / weights.sum())
