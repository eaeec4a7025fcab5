"""What a brain costs on a task, beside its score and never in it: names and definitions are NeuroBench's.

| field | what |
|---|---|
| `parameters` | weights and biases of all that an action goes through, whether they learn or not |
| `footprint` | bytes of everything that the brain remembers, its optimiser and stored experience included |
| `effective_macs` | multiply-accumulates of an action, one for each connection whose signal is not 0 |
| `effective_acs` | accumulates of an action: the same for connections that carry spikes |
| `dense` | operations of an action if all signals and all possible connections were there |
| `activation_sparsity` | share of the units' activations that are 0, over all ticks of a step |
| `milliseconds` | processor time of 1,000 steps with learning, world included, one run on a core of this machine |

Biases, activation functions and learning are no synaptic operations. The counts are means over the steps of one episode
after a whole run of training; a brain written in Python has no declared memory, so only its time is known.
"""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nematodebench.brains.registry import get_brain, is_compiled, name_of
from nematodebench.brains.synapses import Synapses
from nematodebench.callbacks.base import Step
from nematodebench.engine.agents import Agents
from nematodebench.engine.run import compile_for, interface, resolve_config
from nematodebench.engine.watching import View
from nematodebench.tasks.base import Phase
from nematodebench.tasks.registry import get_task

__all__ = ["Efficiency", "measure_efficiency"]

_SEED = 20
_EPISODE_STEPS = 500


@dataclass(frozen=True)
class Efficiency:
    """What a brain costs on a task; None where a brain written in Python does not tell."""

    parameters: int | None
    footprint: int | None
    effective_macs: float | None
    effective_acs: float | None
    dense: float | None
    activation_sparsity: float | None
    milliseconds: float

    def as_dict(self) -> dict[str, float | int | None]:
        """The fields as plain data."""
        return asdict(self)


class _Counts:
    """Sums over the steps of an episode."""

    def __init__(self, brain: Any, config: Any, brains: Any) -> None:
        self._brain, self._config, self._brains = brain, config, brains
        self.steps, self.macs, self.acs, self.active, self.units = 0, 0.0, 0.0, 0.0, 0

    def synapses(self, agent: int) -> list[Synapses]:
        """The connections of an agent's brain, as they are now."""
        found: list[Synapses] = self._brain.synapses(self._config, self._brains.views()[agent])
        return found

    def add(self, step: Step) -> None:
        """Counts what a step took; enough of them are enough."""
        if self.steps >= _EPISODE_STEPS:
            return
        self.steps += 1
        for synapses in self.synapses(step.agent):
            operations = synapses.effective(step.observation)
            self.acs += operations if synapses.spiking else 0.0
            self.macs += 0.0 if synapses.spiking else operations
            active, units = synapses.active()
            self.active += active
            self.units += units


def measure_efficiency(
    task: str, brain: Any, config: dict[str, Any] | None = None, *, episodes: int | None = None, seed: int = _SEED
) -> Efficiency:
    """Trains one run of a brain on a task, takes its time, and counts what its actions take.

    Args:
        task: Name of the task.
        brain: Name or class of the brain.
        config: Its parameters that are not at their defaults.
        episodes: Episodes of training, if not as many as the task has.
        seed: The run's seed: counts and sparsity follow from it, the time does not.
    """
    wanted, kind = get_task(task), get_brain(name_of(brain))
    resolved = resolve_config(name_of(brain), kind, config)
    compile_for(wanted, kind)
    phase = wanted.phases[0]
    agents = Agents(kind, resolved, interface(wanted), seed, wanted.world.agents)
    try:
        training = phase if episodes is None else replace(phase, episodes=episodes, ticks=0)
        milliseconds, done = _train(agents, training)
        if not is_compiled(kind):
            return Efficiency(None, None, None, None, None, None, milliseconds)
        counts = _Counts(kind, resolved, agents.brains)
        agents.view, agents.on_step = View(0, seed, agents.control), counts.add
        agents.run(replace(phase, episodes=1, ticks=0), done)
        return _summed(counts, agents, milliseconds)
    finally:
        agents.brains.close()


def _train(agents: Agents, phase: Phase) -> tuple[float, int]:
    """Milliseconds of 1,000 steps on the processor, whatever else it does, and how many episodes there were."""
    begun = time.thread_time()
    done, records = agents.run(phase, 0)
    seconds = time.thread_time() - begun
    steps = records[:done, phase.columns.index("steps")].sum() * phase.world.agents
    return float(1e6 * seconds / max(steps, 1.0)), done


def _summed(counts: _Counts, agents: Agents, milliseconds: float) -> Efficiency:
    """Means a step, and what does not change from step to step."""
    synapses, steps = counts.synapses(0), max(counts.steps, 1)
    brains: Any = agents.brains
    return Efficiency(
        parameters=sum(one.parameters for one in synapses),
        footprint=int(brains.hyper.nbytes + brains.ints[0].nbytes + np.asarray(brains.mem[0]).nbytes),
        effective_macs=counts.macs / steps,
        effective_acs=counts.acs / steps,
        dense=float(sum(one.dense for one in synapses)),
        activation_sparsity=1.0 - counts.active / counts.units if counts.units else 0.0,
        milliseconds=milliseconds,
    )
