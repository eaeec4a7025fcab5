"""Saved brains and runs: what a run leaves in a file on its way, and what a run can begin with."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from nematodebench.brains.base import Interface
from nematodebench.brains.configs import dump_config
from nematodebench.brains.registry import is_compiled
from nematodebench.engine.agents import PROBE_STREAM
from nematodebench.engine.brain_state import BrainState
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.segments import Pause, Segment
from nematodebench.engine.spec import RunSpec, interface
from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import BodyRecord, Checkpoint, CheckpointHeader
from nematodebench.records.provenance import package_version

__all__ = ["body_of", "episodes_learned", "header_of", "keeping_pauses", "state_of", "with_state"]


def header_of(spec: RunSpec, episode: int, *, final: bool) -> CheckpointHeader:
    """What is said of the brain of a run after some episodes."""
    if isinstance(spec.brain, Foreign):
        raise UsageError(f"Brain {spec.brain_name!r} runs in a sandbox, from which it cannot be saved.")
    return CheckpointHeader(
        brain=spec.brain_name,
        kind="compiled" if is_compiled(spec.brain) else "python",
        config=dump_config(spec.config),
        body=BodyRecord(
            **{key: list(v) if isinstance(v, tuple) else v for key, v in asdict(interface(spec.task)).items()}
        ),
        agents=spec.task.world.agents,
        task=spec.task.id,
        task_spec_hash=spec.task.spec_hash,
        seed=spec.seed,
        episode=episode,
        final=final,
        continued_from=None if spec.start is None else spec.start.sha256,
        package_version=package_version(),
    )


def with_state(header: CheckpointHeader, state: BrainState) -> Checkpoint:
    """A saved brain."""
    trees = {"states": list(state.trees), "generators": state.generators}
    return Checkpoint(header.model_copy(update=trees), state.arrays)


def state_of(checkpoint: Checkpoint) -> BrainState:
    """What a saved brain remembers."""
    header = checkpoint.header
    return BrainState(header.agents, checkpoint.arrays, tuple(header.states), header.generators)


def body_of(header: CheckpointHeader) -> Interface:
    """The body that a saved brain was built for."""
    told: dict[str, Any] = header.body.model_dump()
    told |= {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
    return Interface(**told)


def episodes_learned(segment: Segment) -> int | None:
    """How many episodes the run has been through with learning on; None while a copy is tested."""
    return None if segment.first_episode >= PROBE_STREAM else segment.first_episode + len(segment.records)


def keeping_pauses(spec: RunSpec) -> list[Pause]:
    """What writes the brain of a run to files on its way; nothing where none are asked for."""
    keeping = spec.keeping
    if keeping is None:
        return []
    training = [phase.name for phase in spec.task.phases if phase.learns]

    def keep(segment: Segment) -> None:
        episode = episodes_learned(segment)
        if episode is None:
            return
        final = segment.last and segment.phase.name == training[-1]
        saved = with_state(header_of(spec, episode, final=final), segment.brains.state())
        place: Path = keeping.place(spec.index, None if final else episode)
        saved.write(place)

    return [Pause(keeping.every, keep)]
