"""Brains for the tests on a Ray cluster: imported by its worker processes."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from brains_for_tests import Fine


@dataclass
class Victim:
    mark: str
    victim: int


class KilledOnce(Fine):
    """Takes its worker process down with SIGKILL in the middle of one run, the first time that run is executed."""

    config = Victim

    def act(self, observation):
        mark = Path(self.config.mark)
        if self.steps == 60 and self.seed == self.config.victim and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation)


@dataclass
class Nodes:
    folder: str
    nodes: int


class OnThreeNodes(Fine):
    """Tells on which node it is, and goes on slowly when so many nodes are at work."""

    config = Nodes

    def begin_episode(self):
        import ray

        context = ray.get_runtime_context()
        if context.worker.mode == ray.WORKER_MODE:
            folder = Path(self.config.folder)
            (folder / context.get_node_id()).touch()
            while len(list(folder.iterdir())) < self.config.nodes:
                time.sleep(0.1)
            time.sleep(1)
