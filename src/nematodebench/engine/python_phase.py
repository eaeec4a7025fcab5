"""One run of a brain written in Python: the brain is asked in Python, the rest of a step is one compiled call."""

from nematodebench.engine import loop
from nematodebench.engine.lanes import WAITING, Lane, Lanes
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.kernels.abi import Outcome

__all__ = ["run_python_phase"]

_TERMINATED, _TRUNCATED = (Outcome.singles[name] for name in ("terminated", "truncated"))
_FIRST_REWARD = len(Outcome.singles)
_STOP = loop.Control.singles["stop"]


def run_python_phase(
    brains: PythonBrains, lanes: Lanes, plan: loop.Plan, control: loop.Control, words: memoryview
) -> int:
    """Takes the brains of one run, which is the only lane, through a phase; returns what the run loop returns.

    ``words`` is the memory of the control, which is looked at in every step.
    """
    lane = lanes.lane(0)
    try:
        while lanes.begin():
            _run_episode(brains, lanes, lane, words)
            if control.stop:
                return loop.CANCELLED
            if lane.status < 0:
                return lane.status
            control.steps_done += lane.steps
            plan.episode = lane.episode
            if lane.episode == plan.pause:
                break
    finally:
        plan.episode, plan.tick = lane.episode, lane.ticks
        behind = lane.status == WAITING  # the episode is recorded before the brain learns from its last step
        control.at_episode, control.at_step = lane.episode - behind, lane.steps
    return lane.episode


def _run_episode(brains: PythonBrains, lanes: Lanes, lane: Lane, words: memoryview) -> None:
    """An episode, or its part before the run is told to stop. What costs time in a step is looked up once."""
    agents = [(n, lanes.obs[0, n], lanes.action[0, n]) for n in range(lanes.obs.shape[1])]
    outcome, step, choose, take_in = memoryview(lanes.outs[0]), lanes.step, brains.choose, brains.take_in
    for agent, _, _ in agents:
        brains.begin_episode(agent)
    ended = 0
    while not ended and not words[_STOP]:
        for agent, obs, action in agents:
            choose(agent, obs, action)
        ended = step()
        if ended and lane.status == loop.ILLEGAL_ACTION:
            return
        if brains.learning:
            terminated, truncated = outcome[_TERMINATED] != 0.0, outcome[_TRUNCATED] != 0.0
            for agent, obs, _ in agents:
                take_in(agent, obs, outcome[_FIRST_REWARD + agent], terminated, truncated)
