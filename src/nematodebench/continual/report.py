"""Computes the numbers of a continual session: scores of both profiles against chance, learning curves, transfer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench import scoring
from nematodebench.brains.configs import dump_config
from nematodebench.continual.lines import Line, load_lines
from nematodebench.continual.runs import Continual, rewards_of, run_scores, threshold, without_tests
from nematodebench.engine.run import RunResult
from nematodebench.errors import UsageError
from nematodebench.scoring import AnchoredScore, AnchorKind, ContinualScore, ProfileName, ScoreAnchor
from nematodebench.scoring import transfer as transfers
from nematodebench.sessions.scores import RunScores
from nematodebench.sessions.session import Session
from nematodebench.sessions.twins import Gain, gain
from nematodebench.stats import FEW_RUNS, StatValue, critical
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import probe_name

__all__ = ["ContinualReport", "EnvironmentReport", "ExecutedRun", "ProfileReport", "TransferReport", "summarise"]


@dataclass(frozen=True)
class EnvironmentReport:
    """One environment: its anchors, what the brain did, how it changed (mean reward of each episode over runs)."""

    episodes: int
    floor: float
    ceiling: float
    ceiling_kind: str
    threshold: float
    reward: StatValue
    success: StatValue
    scores: dict[str, StatValue]
    curve: list[float]


@dataclass(frozen=True)
class ProfileReport:
    """The scores of one profile next to the null policy's."""

    weighted: StatValue
    adjusted: StatValue
    primary: StatValue
    null_primary: StatValue
    anchored: AnchoredScore


@dataclass(frozen=True)
class TransferReport:
    """What learning one environment did to the others (definitions of Continual World).

    Attributes:
        matrix: Success on environment j (column) of a copy taken after learning environment i (row), and its interval.
        forgetting_by_task: Success just after learning minus success at the very end.
        forgetting: Its mean over all environments.
        backward: Minus the mean of those something was learned after.
        forward: Gain in success while learning over fresh brains that learn the environment alone; None if not run.
        forward_without: Environments that brains alone master from the first episode: nothing to gain.
    """

    matrix: list[list[StatValue]]
    forgetting_by_task: dict[str, StatValue]
    forgetting: StatValue
    backward: StatValue
    forward: StatValue | None
    forward_without: list[str]


@dataclass(frozen=True)
class ExecutedRun:
    """A finished run: its number, its seed, the hashes that it gives again, and its primary score by profile."""

    run: int
    seed: int
    record_hash: str
    memory_hash: str | None
    primary: dict[str, float]


@dataclass(frozen=True)
class ContinualReport:
    """Everything a continual session says.

    Attributes:
        config: The parameters of the brain.
        test_episodes: Episodes of every test of a copy.
        executed: The finished runs, so that anybody can execute them again.
        gains: By profile, what learning added to the primary score; empty without a twin.
        lines: What policies that ignore their input get; empty for other than the standard settings.
    """

    brain: str
    seed: int
    runs: int
    failed: int
    environments: dict[str, EnvironmentReport]
    profiles: dict[str, ProfileReport]
    transfer: TransferReport | None
    has_energy_term: bool
    notes: list[str]
    gains: dict[str, Gain]
    lines: list[Line]
    config: dict[str, Any]
    test_episodes: int
    executed: list[ExecutedRun]


def _stat(values: ArrayLike, share: bool = False) -> StatValue:
    return StatValue.from_values(values, share=share)


def summarise(result: Continual) -> ContinualReport:
    """Computes every number from the finished runs."""
    session = result.session
    runs = session.finished_runs
    if not runs:
        why = session.results[0].failure
        raise UsageError(f"All {session.plan.runs} runs failed: {why.message if why else 'no reason is known'}.")
    task = session.plan.task
    scores = [run_scores(task, run, result.anchors) for run in runs]
    null_task = result.null.plan.task
    nulls = [run_scores(null_task, run, result.anchors) for run in result.null.finished_runs]
    energy = scores[0]["nenv-v2"].has_energy_term
    transfer = _transfer(result) if result.settings.probe_episodes else None
    return ContinualReport(
        brain=session.plan.brain_name,
        seed=session.plan.seed,
        runs=len(runs),
        failed=len(session.failed_runs),
        environments={phase.name: _environment(result, phase.name, scores) for phase in without_tests(task).phases},
        profiles={profile: _profile(profile, scores, nulls) for profile in scoring.PROFILES},
        transfer=transfer,
        has_energy_term=energy,
        notes=_notes(result, energy, transfer),
        gains=_gains(result),
        lines=load_lines(result.settings),
        config=dump_config(session.plan.config),
        test_episodes=result.settings.probe_episodes,
        executed=[
            ExecutedRun(run.index, run.seed, run.record_hash, run.memory_hash,
                        {profile: float(score[profile].primary) for profile in scoring.PROFILES})
            for run, score in zip(runs, scores, strict=True)
        ],
    )  # fmt: skip


def _gains(result: Continual) -> dict[str, Gain]:
    """What learning added to the primary score of each profile; empty without a twin."""
    if result.twin is None:
        return {}

    def primaries(session: Session, profile: ProfileName) -> RunScores:
        task, runs = session.plan.task, session.finished_runs
        values = [run_scores(task, run, result.anchors)[profile].primary for run in runs]
        return RunScores(np.array(values, dtype=np.float64), [run.seed for run in runs])

    found = {name: gain(primaries(result.session, name), primaries(result.twin, name)) for name in scoring.PROFILES}
    return {name: value for name, value in found.items() if value is not None}


def _environment(result: Continual, name: str, scores: Sequence[dict[str, ContinualScore]]) -> EnvironmentReport:
    floor, ceiling = result.anchors[name]
    limit = threshold(name, floor, ceiling)
    rewards = _rewards(result.session.plan.task, result.session.finished_runs, name)
    return EnvironmentReport(
        episodes=rewards.shape[1],
        floor=floor.value,
        ceiling=ceiling.value,
        ceiling_kind=str(ceiling.kind),
        threshold=limit,
        reward=_stat(rewards.mean(axis=1)),
        success=_stat((rewards >= limit).mean(axis=1), share=True),
        scores={profile: _stat([run[profile].environments[name] for run in scores]) for profile in scoring.PROFILES},
        curve=[float(value) for value in rewards.mean(axis=0)],
    )


def _rewards(task: Task, runs: Sequence[RunResult], name: str) -> NDArray[np.float64]:
    return np.stack([rewards_of(task, run.records, name) for run in runs])


def _profile(
    profile: ProfileName, scores: Sequence[dict[str, ContinualScore]], nulls: Sequence[dict[str, ContinualScore]]
) -> ProfileReport:
    """The anchored value is (primary - null) / (1 - null); its error carries the null's."""
    null = _stat([run[profile].primary for run in nulls])
    chance = ScoreAnchor(
        null.mean, AnchorKind.NULL_MEASURED, "null_random under the same settings", null.n, null.std / math.sqrt(null.n)
    )
    perfect = ScoreAnchor(1.0, AnchorKind.ANALYTIC, "analytic: every term is at most 1")
    primary = [run[profile].primary for run in scores]
    return ProfileReport(
        weighted=_stat([run[profile].weighted for run in scores]),
        adjusted=_stat([run[profile].adjusted for run in scores]),
        primary=_stat(primary),
        null_primary=null,
        anchored=scoring.anchored_score(primary, chance, perfect),
    )


def _transfer(result: Continual) -> TransferReport:
    task, runs = result.session.plan.task, result.session.finished_runs
    order = result.settings.order
    limits = {name: threshold(name, *result.anchors[name]) for name in order}
    tests = np.stack([
        [_rewards(task, runs, probe_name(row, column)) >= limits[column] for column in order] for row in order
    ])  # fmt: skip
    matrices = transfers.transfer_matrix(np.moveaxis(tests, 2, 0))
    lost = transfers.forgetting_by_task(matrices)
    forward, mastered = _forward(result, limits) if result.alone else (None, [])
    return TransferReport(
        matrix=[[_stat(matrices[:, i, j], share=True) for j in range(len(order))] for i in range(len(order))],
        forgetting_by_task={name: _stat(lost[:, j]) for j, name in enumerate(order)},
        forgetting=_stat(transfers.forgetting(matrices)),
        backward=_stat(transfers.backward_transfer(matrices)),
        forward=forward,
        forward_without=mastered,
    )


def _forward(result: Continual, limits: dict[str, float]) -> tuple[StatValue | None, list[str]]:
    """Forward transfer; its interval carries the error of the brains that learned alone, to first order."""

    def areas(task: Task, runs: Sequence[RunResult], name: str, phase: str) -> NDArray[np.float64]:
        return np.asarray((_rewards(task, runs, phase) >= limits[name]).mean(axis=1), dtype=np.float64)

    session = result.session
    alone = {
        name: areas(single.plan.task, single.finished_runs, name, "train") for name, single in result.alone.items()
    }
    names = [name for name in alone if alone[name].size and alone[name].mean() < 1.0]
    mastered = [name for name in alone if name not in names]
    if not names:
        return None, mastered
    sequence = np.stack([areas(session.plan.task, session.finished_runs, name, name) for name in names], axis=1)
    means = np.array([alone[name].mean() for name in names])
    gains = transfers.forward_transfer(sequence, means)
    slopes = (1.0 - sequence.mean(axis=0)) / (1.0 - means) ** 2 / len(names)
    spread = sum(
        slope**2 * alone[name].var(ddof=1) / alone[name].size
        for slope, name in zip(slopes, names, strict=True)
        if alone[name].size > 1
    )
    own = _stat(gains)
    half = math.hypot((own.ci95[1] - own.ci95[0]) / 2, critical(max(2, own.n)) * math.sqrt(spread))
    return replace(own, ci95=(own.mean - half, own.mean + half)), mastered


def _notes(result: Continual, energy: bool, transfer: TransferReport | None) -> list[str]:
    notes = ["nenv-v2: a perfectly constant reward has norm_reward 0 by its formula, so 1.0 is out of reach there"]
    if not energy:
        notes.append("no energy account: the efficiency term is left out and the other weights are renormalised")
    probes = [phase for phase in result.session.plan.task.phases if not phase.learns]
    if probes:
        notes.append(f"tests: {probes[0].episodes} episodes by a copy of the brain that does not learn")
    if transfer is not None and transfer.forward_without:
        notes.append(f"forward transfer without {', '.join(transfer.forward_without)}: mastered alone at once")
    if len(result.session.finished_runs) < FEW_RUNS:
        notes.append(f"fewer than {FEW_RUNS} runs: intervals are Student's")
    return notes
