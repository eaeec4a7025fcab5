"""Every step of a run is told: the run loop itself, interpreted, calls a brain's functions through these."""

from collections.abc import Callable
from typing import Any

from nematodebench.callbacks.base import Step
from nematodebench.engine.loop import Control, Plan
from nematodebench.kernels.abi import Feedback

__all__ = ["Stepwise"]


class Stepwise:
    """The functions of a brain with somebody who is told every step. Agents take turns, so that they are counted."""

    def __init__(self, functions: tuple[Any, Any, Any], agents: int, plan: Plan, control: Control) -> None:
        self._begin, self._act, self._learn = functions
        self._agents, self._plan, self._control = agents, plan, control
        self._seen: list[Any] = [None] * agents
        self._asked = self._told = 0

    def functions(self, view: Any, phase: str, tell: Callable[[Step], None]) -> tuple[Any, Any, Any]:
        """What the run loop is given in the place of the brain's functions."""

        def learn(hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
            self._learn(hyper, ints, mem, rng, obs, action, out)
            agent, plan, control = self._told % self._agents, self._plan, self._control
            feedback = Feedback(out)
            done = int(action[0, 0]) if plan.choices else action[0].copy()
            tell(
                Step(
                    view.index, view.seed, phase, plan.episode, control.at_step, agent, self._seen[agent], done,
                    feedback.reward, feedback.terminated != 0.0, feedback.truncated != 0.0,
                )
            )  # fmt: skip
            self._told += 1
            control.at_step += agent == self._agents - 1

        return self._count_from_zero, self._remember, learn

    def _count_from_zero(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        self._control.at_episode, self._control.at_step = self._plan.episode, 0
        self._asked = self._told = 0
        self._begin(hyper, ints, mem, rng, obs, action, out)

    def _remember(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        self._seen[self._asked % self._agents] = obs[0].copy()
        self._asked += 1
        self._act(hyper, ints, mem, rng, obs, action, out)
