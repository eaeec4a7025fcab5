"""Learned, or born so? A brain's twin has the same seeds and never learns; the gain is what learning added.

A twin is a session of its own: its task is the untrained variant (``pong_untrained-v1``), in which ``learn`` is never
called. So it is stored, resumed and executed again like any other session, and it can never be submitted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nematodebench.brains.registry import canonical_name, class_of
from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import Plan, dump_config, make_plan
from nematodebench.sessions.scores import RunScores, compare_scores, scores_of_record
from nematodebench.stats import Doubt, StatValue, with_interval
from nematodebench.tasks.base import trained_id
from nematodebench.vocabulary import NEVER_LEARN

__all__ = ["Gain", "gain", "gain_of", "has_twin", "pair_twins", "twin_plan"]


@dataclass(frozen=True)
class Gain:
    """What learning added to a score.

    Attributes:
        trained: The brain's score.
        untrained: Its twin's, with learning off.
        difference: Mean of the differences of runs of the same seed.
        ci95: Its 95 % interval; nan for fewer than two pairs.
        pairs: Runs that both have.
        doubt: Why the interval may cover less than 93 %; empty where it does not.
        can_tell: Whether there are enough pairs to say anything.
    """

    trained: StatValue
    untrained: StatValue
    difference: float
    ci95: tuple[float, float]
    pairs: int
    doubt: Doubt = ""
    can_tell: bool = True

    @property
    def learned(self) -> bool:
        """Whether the interval lies above 0, and rests on enough pairs."""
        return self.can_tell and self.ci95[0] > 0.0

    def plain(self) -> dict[str, object]:
        """For machines."""
        means = {"trained": self.trained.mean, "untrained": self.untrained.mean}
        found = {"difference": self.difference, "ci95": self.ci95, "doubt": self.doubt, "pairs": self.pairs}
        return {**means, **found, "learned": self.learned}

    def __str__(self) -> str:
        if math.isnan(self.ci95[0]):
            return f"{self.difference:+.3f}"
        return with_interval(self.difference, self.ci95, self.doubt)

    def sentence(self, brain: str) -> str:
        """Says in plain words what is shown."""
        scores = f"{self.trained.mean:.3f} with learning, {self.untrained.mean:.3f} without"
        if self.learned:
            return f"{brain} has learned: {scores}, gain {self}"
        if not self.can_tell:
            few = "one pair cannot tell" if self.pairs == 1 else "two pairs cannot tell"
            return f"{brain} is not shown to have learned, {few}: {scores}, gain {self}"
        if self.ci95[1] < 0.0:
            return f"{brain} is not shown to have learned, it got worse: {scores}, gain {self}"
        return f"{brain} is not shown to have learned: {scores}, gain {self}"


def has_twin(plan: Plan) -> bool:
    """Whether learning can be turned off: some classes never learn, and a twin has no twin."""
    return class_of(plan.brain) not in NEVER_LEARN and plan.task.learning


def twin_plan(plan: Plan) -> Plan:
    """The same runs, from the same seeds, with learning off."""
    if not has_twin(plan):
        raise UsageError(f"{plan.brain_name} on {plan.task.id} never learns: it has no twin with learning off.")
    episodes = plan.task.episodes_override or None
    given = SessionConfig(
        task=plan.task.untrained().id, brain=plan.brain_name, config=dump_config(plan.config), runs=plan.runs,
        episodes=None if plan.task.trains_first else episodes, seed=plan.seed,
    )  # fmt: skip
    return make_plan(
        given, workers=plan.workers, executor=plan.executor, start=plan.start, checkpoint=plan.checkpoint,
        limit=plan.limit,
    )  # fmt: skip


def gain(trained: RunScores, untrained: RunScores) -> Gain | None:
    """The gain of a session's scores over those of its twin; None where no seed has both."""
    shared = [seed for seed in trained.seeds if seed in untrained.seeds]
    if not shared:
        return None
    found = compare_scores(trained.only(shared), untrained.only(shared))
    with_learning, without = (StatValue.from_values(side.values, pseudo=side.pseudo) for side in (trained, untrained))
    return Gain(with_learning, without, found.difference, found.ci95, found.pairs, found.doubt, found.can_tell)


def gain_of(trained: ExperimentMetadata, untrained: ExperimentMetadata) -> Gain | None:
    """The gain of a stored session over its twin's."""
    return gain(scores_of_record(trained), scores_of_record(untrained))


def pair_twins(records: Sequence[ExperimentMetadata]) -> list[tuple[ExperimentMetadata, ExperimentMetadata | None]]:
    """Every session with its twin among the others: same brain, config, seed and task. A twin alone stays a session."""
    twins = {_what(record, trained_id(record.task)): record for record in records if trained_id(record.task)}
    sessions = [record for record in records if not trained_id(record.task)]
    paired = [(record, twins.get(_what(record, record.task))) for record in sessions]
    used = {id(twin) for _, twin in paired}
    return [*paired, *((record, None) for record in records if trained_id(record.task) and id(record) not in used)]


def _what(record: ExperimentMetadata, task: str | None) -> tuple[object, ...]:
    """Everything that a session and its twin have in common."""
    config, spec = repr(sorted(record.brain_config.items())), record.task_spec
    try:
        scored = [phase["episodes"] for phase in spec["phases"] if phase["phase"] == spec["scored"]]
    except (LookupError, TypeError) as error:
        raise UsageError(f"{record.experiment_id}: its task_spec is not the specification of a task.") from error
    return task, canonical_name(record.brain), config, record.session_seed, *scored
