"""Submissions that carry their brain, made once, on a task whose runs are short: an honest one and one that hoards."""

import atexit
import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

from submission_workshop import Work, command, commit, copied, folders, new_repository

from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

TASK = "pattern_memory_easy-v2"
HONEST, HOARDER = "bundled_table.py:Table", "bundled_hoarder.py:Hoarder"
SOURCES = {
    "bundled_rows.py": '''"""Rows of a table, made when they are first asked for."""


class Rows(dict):
    def __missing__(self, key):
        self[key] = [0.0, 0.0]
        return self[key]
''',
    "bundled_table.py": '''"""Values of actions for every observation."""

import numpy as np
from bundled_rows import Rows


class Table:
    def __init__(self, observation_space, action_space, config, seed):
        self.generator, self.rows = np.random.default_rng(seed), Rows()

    def begin_episode(self):
        pass

    def act(self, observation):
        row = self.rows[observation.tobytes()]
        return int(np.argmax(row + 0.1 * self.generator.random(2)))

    def learn(self, transition):
        row = self.rows[transition.observation.tobytes()]
        row[transition.action] += 0.2 * (transition.reward - row[transition.action])

    def memory(self):
        return repr(sorted(self.rows.items())).encode()
''',
    "bundled_hoarder.py": '''"""Counts its runs, which a brain must not know of."""


class Hoarder:
    runs = 0

    def __init__(self, observation_space, action_space, config, seed):
        Hoarder.runs += 1

    def begin_episode(self):
        pass

    def act(self, observation):
        return Hoarder.runs % 2

    def learn(self, transition):
        pass
''',
}


REFUSED = {}
"""What was said of each brain's submission without its source, and with a part of it."""


def files_of(brain):
    """The sources that a brain consists of, the one with its class first."""
    return ["bundled_table.py", "bundled_rows.py"] if brain == HONEST else ["bundled_hoarder.py"]


@functools.cache
def bundle_repository(brain):
    """Ten sessions of a brain from outside, submitted with its source and committed; the source itself is gone."""
    folder = Path(tempfile.mkdtemp(prefix="nematodebench-bundle-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    text = f"task: {TASK}\nbrain: {brain}\nruns: 50\n"
    root = new_repository(folder / "repo", text)
    (root / "README.md").write_text("<!-- leaders:begin -->\n<!-- leaders:end -->\n")
    for name in files_of(brain):
        (root / name).write_text(SOURCES[name])
    for seed in range(200, 210):
        with contextlib.chdir(root):
            given = SessionConfig(task=TASK, brain=brain, runs=50, seed=seed)
            plan = make_plan(given, workers=1, executor="threads", config_name="follower.yml", text=text)
        run_plan(plan, root=root / "experiments")
    REFUSED[brain] = [submit_bundle(root), submit_bundle(root, files_of(brain)[-1] if brain == HONEST else "README.md")]
    done = submit_bundle(root, *files_of(brain))
    assert done.code == 0, done.err
    for name in files_of(brain):
        (root / name).unlink()
    commit(root, "submission")
    return root


def submit_bundle(root, *files, needs=("numpy",)):
    """The command that submits the sessions of a repository with files of its own."""
    given = [path.relative_to(root) for path in folders(root)]
    own = [word for name in files for word in ("--bundle", name)] + [word for one in needs for word in ("--needs", one)]
    return command(root, "submit", "--experiments", *given, "--contributor", "Ada Example", *own)


def bundled(target, brain):
    """A copy of the submission, to be spoiled."""
    return Work(copied(bundle_repository(brain), target))
