"""What a task is: a versioned, frozen use of worlds that fixes everything a score depends on."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.measures.base import Episodes, Measure, Measurement, RunRecords
from nematodebench.tasks.specification import completed, nothing_of, specification_changes, specification_hash
from nematodebench.worlds.base import Discrete, Sensor, World

__all__ = ["Phase", "Task", "trained_id"]

_UNTRAINED = "_untrained"


def trained_id(task_id: str) -> str | None:
    """The id of the task that ``pong_untrained-v1`` is the untrained variant of; None for other ids."""
    name, dash, version = task_id.partition(f"{_UNTRAINED}-v")
    return f"{name}-v{version}" if dash else None


@dataclass(frozen=True)
class Phase:
    """One stretch of a run in one world: some episodes, or ticks of experience in as many episodes as it takes.

    A phase that does not learn is a test: a copy of the brain goes through it, and the run goes on as if it had not
    happened.
    """

    name: str
    world: World
    episodes: int = 0
    ticks: int = 0
    learns: bool = True
    recorded: tuple[str, ...] = ()
    """The columns of stored records, where they are not those that are recorded today."""

    @property
    def all_columns(self) -> tuple[str, ...]:
        """What the run loop records of every episode today, in order."""
        return ("reward", "steps", "terminated", "truncated", *self.world.metrics)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the records of this phase."""
        return self.recorded or self.all_columns

    def spec(self) -> Mapping[str, Any]:
        """The phase as plain data; its ticks are called experience where the world has a parameter ``ticks``."""
        world = self.world.spec()
        more: dict[str, Any] = {} if self.learns else {"learns": False}
        if self.ticks and "ticks" in world:
            more["experience"] = self.ticks
        return {"phase": self.name, "episodes": self.episodes, "ticks": self.ticks, **more, **world}

    @property
    def absent(self) -> Mapping[str, Any]:
        """What a stored specification means that lacks a key; the first ones lacked the ticks of experience."""
        spec = self.spec()
        unknown = {key: spec[key] for key in ("experience",) if key in spec}
        return {**nothing_of(spec), **unknown, **self.world.absent}


@dataclass(frozen=True)
class Task:
    """A task: the phases of a run, which of them is scored, and how.

    Attributes:
        id: Name with version, like ``foraging_small-v1``.
        summary: What it asks of a brain, in one line.
        phases: The phases, in the order in which one brain goes through them.
        scored: Name of the phase the score is computed from.
        scoring: How metrics and the score follow from the episodes: one of :mod:`nematodebench.measures`.
        score_key: The metric that is the score; empty for a task without one, which is never ranked.
        assay: Name of the phase that is the chemotaxis assay, if there is one.
        floor: What chance scores where that is known exactly; None where it has to be measured.
        ceiling: The largest possible score; None where none is known and a reference is measured instead.
        gate: What the gate that multiplies the score stands for; empty without one. A gated world has the metrics
            ``gate`` and ``ungated``.
        trained: Of an untrained variant, in which nothing learns, the task it comes from.
        reference_brain: Brain whose score is the reference, in place of a controller with the world's full state.
        body: Worlds that the brain's body has to be wide enough for, beside those of the phases.
    """

    id: str
    summary: str
    phases: tuple[Phase, ...]
    scored: str
    scoring: Measure
    score_key: str
    assay: str = ""
    floor: float | None = None
    ceiling: float | None = 1.0
    gate: str = ""
    episodes_override: int = 0
    trained: "Task | None" = None
    reference_brain: str = ""
    body: tuple[World, ...] = ()

    @property
    def category(self) -> str:
        """The part of a board's category that the task decides: its id without the version."""
        return self.id.rsplit("-v", 1)[0]

    @property
    def version(self) -> int:
        """The number behind ``-v``."""
        return int(self.id.rsplit("-v", 1)[1])

    @property
    def scored_phase(self) -> Phase:
        """The phase the score is computed from."""
        return next(phase for phase in self.phases if phase.name == self.scored)

    @property
    def world(self) -> World:
        """The world of the scored phase: what ``gymnasium.make`` gives."""
        return self.scored_phase.world

    @property
    def worlds(self) -> tuple[World, ...]:
        """All worlds that the brain's body has to fit."""
        return (*(phase.world for phase in self.phases), *self.body)

    @property
    def official(self) -> bool:
        """False once the length of training was changed: such runs are for trying things out."""
        return not self.episodes_override and self.trained is None

    @property
    def trains_first(self) -> bool:
        """Whether experience comes before the scored phase; otherwise a brain is scored while it learns."""
        return self.scored != self.phases[0].name

    def measure(self, runs: Sequence[RunRecords]) -> Measurement:
        """Computes every metric of a session from the episodes of its finished runs, also for whoever checks it."""
        if not runs:
            return Measurement([], {})
        return self.scoring.measure(self._episodes(runs, self.scored), self._assay(runs))

    def scored_episodes(self, run: RunRecords) -> Episodes:
        """The scored episodes of one run."""
        return self._episodes([run], self.scored)

    def _assay(self, runs: Sequence[RunRecords]) -> Episodes | None:
        return self._episodes(runs, self.assay) if self.assay else None

    def _episodes(self, runs: Sequence[RunRecords], name: str) -> Episodes:
        phase = next(phase for phase in self.phases if phase.name == name)
        return Episodes(phase.columns, [run[name] for run in runs])

    def spec(self) -> Mapping[str, Any]:
        """Everything a score depends on, as plain data. The width of a body that is wider than its worlds is part."""
        wide = {"inputs": len(self.inputs), "actions": self.body_actions}
        return {
            "id": self.id,
            "scored": self.scored,
            "scoring": self.scoring.name,
            "score_key": self.score_key,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "phases": [phase.spec() for phase in self.phases],
            **({"body": wide} if self.body else {}),
        }

    @property
    def spec_hash(self) -> str:
        """SHA-256 of the specification with all its keys. Whether a stored one is the same says ``changes_since``."""
        return specification_hash(self.spec())

    def as_recorded(self, columns: Mapping[str, Sequence[str]]) -> "Task":
        """The task for stored records with these columns: what a world learned to record since then is not in them.

        Such a task measures and hashes records; it is not executed.
        """
        phases = []
        for phase in self.phases:
            recorded = tuple(columns.get(phase.name, ()))
            unknown = [name for name in recorded if name not in phase.all_columns]
            if unknown or len(set(recorded)) < len(recorded):
                raise UsageError(
                    f"Phase {phase.name!r} of {self.id} does not record: {', '.join(unknown or recorded)}."
                )
            phases.append(replace(phase, recorded=() if recorded == phase.all_columns else recorded))
        return replace(self, phases=tuple(phases))

    def selected(self, records: RunRecords, recorded: "Task") -> RunRecords:
        """The columns of this task, out of records with those of another."""
        return {
            ours.name: records[ours.name][:, [theirs.columns.index(name) for name in ours.columns]]
            for ours, theirs in zip(self.phases, recorded.phases, strict=True)
        }

    def completed(self, stored: Mapping[str, Any]) -> Mapping[str, Any]:
        """A stored specification with the parameters that came later, at what they mean where they are lacking."""
        absent = nothing_of(self.spec())
        absent["phases"] = [phase.absent for phase in self.phases]
        filled: Mapping[str, Any] = completed(stored, absent)
        return filled

    def changes_since(self, stored: Mapping[str, Any]) -> list[str]:
        """In what the task differs from a stored specification; parameters that came later and do nothing aside."""
        return list(specification_changes(self.completed(stored), self.spec()))

    def with_episodes(self, episodes: int | None) -> "Task":
        """The same task with another number of training episodes; not official any more, unless it is the same."""
        if episodes is None:
            return self
        if episodes < 1:
            raise UsageError(f"episodes is {episodes}: give at least 1, or leave it out for the task's own number")
        first = self.phases[0]
        if first.ticks:
            raise UsageError(f"{self.id} is measured in ticks of experience, not episodes: leave episodes out")
        if episodes == first.episodes:
            return self
        phases = (replace(first, episodes=episodes), *self.phases[1:])
        trained = None if self.trained is None else self.trained.with_episodes(episodes)
        return replace(self, phases=phases, episodes_override=episodes, trained=trained)

    def untrained(self) -> "Task":
        """The same task with learning off throughout: what a brain can do from birth.

        Training that comes before the scored phase is left out, because nothing would be learned in it.
        """
        name = f"{self.category}{_UNTRAINED}-v{self.version}"
        phases = (self.scored_phase,) if self.trains_first else self.phases
        return replace(self, id=name, phases=phases, trained=self)

    @property
    def learning(self) -> bool:
        """Whether brains learn in it: in an untrained variant their function ``learn`` is never called."""
        return self.trained is None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the sensors of the widest world: narrower ones leave the rest at 0."""
        return max((tuple(sensor.name for sensor in world.sensors) for world in self.worlds), key=len)

    @functools.cached_property
    def body_sensors(self) -> tuple[Sensor, ...]:
        """The sensors of the widest world, each with a range that holds for all worlds of the body."""
        widest = max((world.sensors for world in self.worlds), key=len)
        return tuple(self._sensor(n, sensor.name) for n, sensor in enumerate(widest))

    def _sensor(self, n: int, name: str) -> Sensor:
        same = [world.sensors[n] for world in self.worlds if n < len(world.sensors)]
        return Sensor(name, min(sensor.low for sensor in same), max(sensor.high for sensor in same))

    @property
    def body_actions(self) -> int:
        """How many actions, or effectors, the richest world has."""
        return max(world.actions.n for world in self.worlds)

    @property
    def discrete(self) -> bool:
        """Whether actions are choices (else effectors)."""
        return isinstance(self.world.actions, Discrete)
