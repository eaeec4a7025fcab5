"""What can be wrong with saved brains before the first run, found by building one brain and asking it."""

from typing import Any

from nematodebench.brains.configs import dump_config
from nematodebench.brains.registry import canonical_name, is_compiled
from nematodebench.engine.agents import Agents
from nematodebench.engine.checkpoints import state_of
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.python_brain import global_generators_kept
from nematodebench.engine.python_state import UnavailableError
from nematodebench.engine.spec import RunSpec, interface
from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import Checkpoint

__all__ = ["check_keeping", "check_start"]


def check_start(spec: RunSpec, saved: Checkpoint) -> None:
    """Refuses a saved brain with which a run cannot begin."""
    header, body = saved.header, interface(spec.task)
    if isinstance(spec.brain, Foreign):
        raise UsageError(f"Brain {spec.brain_name!r} runs in a sandbox, where it can only begin anew.")
    if canonical_name(header.brain) != canonical_name(spec.brain_name):
        raise UsageError(f"The checkpoint holds a brain {header.brain!r}, not {spec.brain_name!r}.")
    there = len(header.body.sensors), header.body.choices, header.body.effectors
    if there != (body.inputs, body.choices, body.effectors):
        raise UsageError(
            f"The checkpoint's brain has another body than {spec.task.id} gives: {_words(*there)} there, "
            f"{_words(body.inputs, body.choices, body.effectors)} here."
        )
    if not is_compiled(spec.brain) and dump_config(spec.config) != header.config:
        raise UsageError("A Python brain goes on with the parameters that it was saved with: leave them out.")
    try:
        _brains(spec, saved)
    except (UnavailableError, ValueError) as error:
        raise UsageError(
            f"The checkpoint does not fit the brain {spec.brain_name!r} as it is here: {error}."
        ) from error


def check_keeping(spec: RunSpec) -> None:
    """Refuses a brain that cannot be saved."""
    if isinstance(spec.brain, Foreign):
        raise UsageError(f"Brain {spec.brain_name!r} runs in a sandbox, from which it cannot be saved.")
    try:
        _brains(spec, None).state()
    except UnavailableError as error:
        raise UsageError(
            f"Brain {spec.brain_name!r} cannot be saved: {error}. Give it the methods state_dict() and "
            "load_state_dict(state), which return and take plain data."
        ) from error
    except Exception:  # a brain that cannot be built fails in its runs, which say where
        return


def _brains(spec: RunSpec, saved: Checkpoint | None) -> Any:
    start = None if saved is None else state_of(saved)
    with global_generators_kept():
        return Agents(
            spec.brain, spec.config, interface(spec.task), spec.seed, spec.task.world.agents, start=start
        ).brains


def _words(inputs: int, choices: int, effectors: int) -> str:
    return f"{inputs} inputs and {choices} choices" if choices else f"{inputs} inputs and {effectors} effectors"
