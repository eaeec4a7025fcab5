"""A callback that keeps all it is told, and brains for the tests of callbacks. Imported by worker processes too."""

import numpy as np

import nematodebench as nb


class Told(nb.Callback):
    """Keeps everything but steps."""

    def __init__(self):
        self.starts, self.ends, self.order = [], 0, []
        self.episodes, self.runs, self.steps = {}, {}, []

    def on_start(self, session):
        self.starts.append(session)

    def on_run_start(self, run):
        assert run.run not in self.episodes
        self.episodes[run.run] = []

    def on_episode(self, episode):
        assert episode.run not in self.runs
        self.episodes[episode.run].append(episode)
        self.order.append(("episode", episode.run, episode.phase, episode.episode))

    def on_run(self, run):
        assert run.run not in self.runs
        self.runs[run.run] = run
        self.order.append(("run", run.run))

    def on_end(self):
        self.ends += 1


class ToldSteps(Told):
    def on_step(self, step):
        self.steps.append(step)
        self.order.append(("step", step.run, step.phase, step.episode))


class Draws(Told):
    """Uses the global generators itself, as a plotting library may."""

    def on_episode(self, episode):
        super().on_episode(episode)
        np.random.random(3)


class DrawsAtSteps(Draws):
    def on_step(self, step):
        np.random.random(3)


def tables(session):
    """Every finished run's records by phase, as rows of numbers."""
    return {run.index: {name: rows.tolist() for name, rows in run.records.items()} for run in session.finished_runs}


def told_tables(told, session):
    """The same, put together again from what was told."""
    columns = {phase.name: phase.columns for phase in session.plan.task.phases}
    found = {}
    for index, episodes in told.episodes.items():
        found[index] = {name: [] for name in columns}
        for episode in episodes:
            rows = found[index][episode.phase]
            assert episode.episode == len(rows)
            assert tuple(episode.columns) == columns[episode.phase]
            rows.append(list(episode.columns.values()))
    return found


def bits(session):
    return [(run.record_hash, run.memory_hash, run.steps, run.descriptors) for run in session.runs]
