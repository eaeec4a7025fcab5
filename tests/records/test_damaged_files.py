"""Whatever happens to a file that is read: one line that names it, or the numbers it held; never a traceback."""

import json
import random

import pytest

import nematodebench as nb
from nematodebench.errors import Interrupted, UsageError
from nematodebench.records.checkpoint import read_checkpoint
from nematodebench.records.run_files import RunFiles
from nematodebench.records.store import ExperimentStore
from nematodebench.sessions.checked import load_checked
from nematodebench.sessions.config import SessionConfig, config_text, read_config
from nematodebench.sessions.execution import resume
from nematodebench.sessions.kept import kept_runs, plan_record
from nematodebench.sessions.unfinished import begin, find
from nematodebench.tasks import anchoring
from nematodebench.tasks.registry import get_task

GIVEN = SessionConfig(task="foraging_small-v1", brain="gradient_follower", runs=2, episodes=3, seed=3)


def mutated(content, rng):
    """The bytes with something wrong in them: a bit, a part that is missing, doubled, foreign, or the end cut off."""
    at, length = rng.randrange(len(content)), rng.randrange(1, 40)
    return rng.choice([
        lambda: content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :],
        lambda: content[:at] + content[at + length :],
        lambda: content[:at] + content[at : at + length] * 2 + content[at + length :],
        lambda: content[:at] + rng.randbytes(length) + content[at + length :],
        lambda: content[:at],
    ])()  # fmt: skip


@pytest.fixture(scope="module")
def session():
    return nb.run(GIVEN.task, GIVEN.brain, runs=2, episodes=3, seed=3, workers=1)


def run_file(folder, session):
    files, spec = RunFiles(folder), session.plan.specs()[0]
    files.write(session.results[0])
    wanted = session.results[0]

    def read():
        damaged = []
        kept = kept_runs([spec], files, damaged)
        if damaged:
            raise UsageError(damaged[0])
        return kept[0].record_hash, kept[0].memory_hash, kept[0].steps, kept[0].records["train"].tobytes()

    return folder / "00000.npz", read, (
        wanted.record_hash, wanted.memory_hash, wanted.steps, wanted.records["train"].tobytes()
    )  # fmt: skip


def record(folder, session):
    place = session.save(folder)
    path = place / f"{place.name}.json"

    def read():
        found = load_checked(path)
        metrics = [{name: value and round(value, 6) for name, value in run.metrics.items()} for run in found.runs]
        return metrics, [run.record_hash for run in found.runs], round(found.metrics["composite_score"].mean, 6)

    return path, read, read()


def config(folder, session):
    path = folder / "config.yml"
    path.write_text(config_text(GIVEN))
    return path, lambda: read_config(path) and None, None


def checkpoint(folder, session):
    path = session.runs[0].brain().save(folder / "brain.safetensors")
    return path, lambda: {name: one.tobytes() for name, one in read_checkpoint(path).arrays.items()}, {
        name: one.tobytes() for name, one in read_checkpoint(path).arrays.items()
    }  # fmt: skip


def plan(folder, session):
    """A damaged plan must not begin a run: what it says is compared before anything is executed."""
    store = ExperimentStore(folder, "x")
    store.create({"created": "now", **plan_record(session.plan)}, "c.yml", session.plan.config_text)
    begun = json.loads(store.plan_path.read_text())["begun_with"]

    def read():
        content = store.plan()
        content = {**content, "begun_with": {**begun, "source": "another"}}  # so that it is always refused
        store.plan_path.write_text(json.dumps(content))
        return resume("x", folder)

    return store.plan_path, read, None


def command(folder, session):
    with pytest.raises(Interrupted), begin(folder, "ablate", {"brain": "x"}, session.plan) as work:
        raise KeyboardInterrupt
    return work.folder / "command.json", lambda: find(folder, work.name, "ablate") and None, None


def anchors(folder, session):
    task = get_task("foraging_small-v1")
    path = folder / "anchors.json"
    path.write_bytes(anchoring.anchor_path(task.id).read_bytes())

    def read():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(anchoring, "anchor_path", lambda task_id: path)
            return anchoring.load_anchors(task) and None

    return path, read, None


KINDS = {run_file: 4000, record: 1500, config: 2500, checkpoint: 2000, plan: 300, command: 1500, anchors: 1500}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_mutations_are_refused_in_one_line_or_change_nothing(kind, session, tmp_path):
    path, read, wanted = kind(tmp_path, session)
    whole, rng, refused = path.read_bytes(), random.Random(kind.__name__), 0
    for _ in range(KINDS[kind]):
        content = mutated(whole, rng)
        path.write_bytes(content)
        try:
            found = read()
        except UsageError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert found == wanted, content
    assert refused > KINDS[kind] // 10
