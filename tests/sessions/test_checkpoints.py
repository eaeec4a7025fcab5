"""Sessions that keep brains, sessions that begin with one, and stored sessions that are read back."""

import json
from pathlib import Path

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.errors import Interrupted, UsageError
from nematodebench.records.checkpoint import read_checkpoint
from nematodebench.records.run_files import RunFiles
from nematodebench.records.store import load_experiment
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import resume, run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.sessions.rerun import rerun
from nematodebench.sessions.twins import twin_plan

TASK, RUNS, SEED = "foraging_small-v1", 3, 5


def counter():
    """A class that no other process can import: its runs are in this one, which is faster."""

    class Counter:
        """A Python brain for these tests: counts, and draws from a generator of its own."""

        def __init__(self, observation_space, action_space, config, seed):
            self.generator, self.n, self.count = np.random.default_rng(seed), int(action_space.n), 0

        def begin_episode(self):
            self.count += 1

        def act(self, observation):
            return int(self.generator.integers(self.n))

        def learn(self, transition):
            self.count += 1

    return Counter


Counter = counter()


def hashes(session):
    return [(run.record_hash, run.memory_hash) for run in session.runs]


def run(brain="mlp_ppo", **more):
    return nb.run(TASK, brain, **{"runs": RUNS, "episodes": 5, "seed": SEED, "workers": 1, **more})


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def folder_of(session):
    return Path("experiments") / session.experiment_id


@pytest.mark.parametrize("brain", ["mlp_ppo", Counter])
def test_a_session_that_keeps_brains_has_the_bits_of_one_that_does_not(brain):
    plain, keeping = run(brain), run(brain, checkpoint=2)
    assert hashes(keeping) == hashes(plain)
    names = {path.name for path in (folder_of(keeping) / "checkpoints" / "run_00002").iterdir()}
    assert names == {f"episode_00000{n}.safetensors" for n in (2, 4, 5)} | {"final.safetensors"}
    brains = [session.runs[2].brain() for session in (plain, keeping)]
    assert [brain.memory_hash() for brain in brains] == [plain.runs[2].memory_hash] * 2
    assert brains[0].checkpoint().content == brains[1].checkpoint().content


def test_a_checkpoint_of_the_middle_is_the_brain_of_a_shorter_run():
    kept = folder_of(run(checkpoint=2)) / "checkpoints" / "run_00001" / "episode_000004.safetensors"
    saved = nb.load_brain(kept)
    assert (saved.header.episode, saved.header.final) == (4, False)
    other = nb.load_brain(folder_of(run(episodes=9, checkpoint=4)) / "checkpoints" / "run_00001" / kept.name)
    assert saved.memory_hash() == other.memory_hash()


def test_processes_keep_brains_too():
    brain = f"{Path(__file__).parents[1]}/engine/brains_for_tests.py:Fine"
    keeping = run(brain, checkpoint=3, workers=2)
    assert not keeping.failed_runs
    assert len(list((folder_of(keeping) / "checkpoints").rglob("final.safetensors"))) == RUNS


def test_a_stored_session_is_read_back_with_its_brains():
    made = run()
    stored = nb.load_session(made.save())
    assert hashes(stored) == hashes(made)
    assert stored.metrics == made.metrics
    assert stored.episodes.equals(made.episodes)
    assert stored.runs[1].brain().checkpoint().content == made.runs[1].brain().checkpoint().content


def test_a_failed_run_has_no_brain():
    class Fails(Counter):
        def act(self, observation):
            raise RuntimeError("no")

    with pytest.raises(UsageError, match="Run 0 failed and has no brain"):
        run(Fails, runs=1).runs[0].brain()


@pytest.mark.parametrize("brain", ["mlp_ppo", Counter])
def test_a_session_goes_on_with_a_saved_brain_and_is_executed_again(brain):
    saved = run(brain).runs[0].brain()
    path = saved.save("brain.safetensors")
    continued = run(nb.load_brain(path, brain=None if brain == "mlp_ppo" else brain), seed=9)
    assert hashes(continued) != hashes(run(brain, seed=9))
    assert len({run.record_hash for run in continued.runs}) == RUNS
    folder = continued.save()
    record = load_experiment(folder)
    assert record.continued_from.sha256 == read_checkpoint(path).sha256
    assert record.continued_from.seed == saved.header.seed
    assert rerun(record, 2, trust_code=True, place=folder).identical
    assert hashes(nb.load_session(folder, trust_code=True)) == hashes(continued)


def test_every_run_begins_with_what_was_learned():
    saved = run(Counter).runs[0].brain()
    continued = run(saved, episodes=1)
    for one in continued.runs:
        assert one.brain().memory_hash() == one.memory_hash
    first = continued.runs[0].brain()
    assert first._brains._brains[0].count > saved._brains._brains[0].count


def test_a_compiled_brain_can_go_on_with_other_parameters_but_not_with_another_shape():
    saved = run().runs[0].brain()
    faster = run(saved, config={"learning_rate": 0.01})
    assert hashes(faster) != hashes(run(saved))
    with pytest.raises(UsageError, match="does not fit the brain 'mlp_ppo'"):
        run(saved, config={"hidden": [8, 8]})


def test_another_body_is_refused():
    saved = run().runs[0].brain()
    with pytest.raises(UsageError, match="has another body than association-v1 gives"):
        nb.run("association-v1", saved, runs=1, seed=1)


def test_a_saved_brain_of_another_name_is_refused(tmp_path):
    kept = run().runs[0].brain().save(tmp_path / "kept.safetensors")
    with pytest.raises(UsageError, match="holds the brain 'mlp_ppo', not 'q_table'"):
        nb.load_brain(kept, brain="q_table")


def test_without_its_checkpoint_a_continued_run_is_not_executed():
    folder = run(run().runs[0].brain(), seed=9).save()
    record, start = load_experiment(folder), folder / "checkpoints" / "start.safetensors"
    run(runs=1, seed=8).runs[0].brain().save(start)
    with pytest.raises(UsageError, match="is another brain than the one"):
        rerun(record, 0, place=folder)
    start.unlink()
    with pytest.raises(UsageError, match="is not there: put the file back whose SHA-256 is"):
        rerun(record, 0, place=folder)
    with pytest.raises(UsageError, match="began with a saved brain"):
        rerun(record, 0)


def test_a_continued_session_that_keeps_brains_is_resumed_as_it_was_begun(monkeypatch):
    given = SessionConfig(task=TASK, brain="mlp_ppo", runs=RUNS, episodes=5, seed=SEED)
    start = run().runs[0].brain().checkpoint()
    plan = make_plan(given, workers=1, start=start, checkpoint=2)
    whole = run_plan(plan, root=Path("whole"))

    written, write = [], RunFiles.write

    def stop_after_one(store, result):
        if written:
            raise KeyboardInterrupt
        written.append(write(store, result))

    with monkeypatch.context() as patch:
        patch.setattr(RunFiles, "write", stop_after_one)
        with pytest.raises(Interrupted):
            run_plan(plan, root=Path("broken"), experiment_id="broken")
    assert hashes(resume("broken", Path("broken"))) == hashes(whole)
    one, other = (
        {path.relative_to(root).as_posix().partition("/")[2]: path.read_bytes() for path in root.rglob("*.safetensors")}
        for root in (Path("whole"), Path("broken"))
    )
    assert one == other


def test_a_twin_begins_with_the_saved_brain_too():
    start = run().runs[0].brain().checkpoint()
    plan = make_plan(SessionConfig(task=TASK, brain="mlp_ppo", runs=1, episodes=2, seed=1), workers=1, start=start)
    twin = run_plan(twin_plan(plan))
    assert twin.runs[0].brain().memory["net.first_weight"].tobytes() == start.arrays["0/net.first_weight"].tobytes()


def test_a_brain_that_cannot_be_saved_is_refused_before_the_first_run():
    class Odd(Counter):
        def __init__(self, *given):
            super().__init__(*given)
            self.odd = iter([1])

    with pytest.raises(UsageError, match=r"cannot be saved: its attribute 'odd' is a .*Give it the methods state_dict"):
        run(Odd, checkpoint=2)
    assert not Path("experiments").exists()


def test_the_record_says_nothing_of_checkpoints():
    """What is kept on the way decides nothing: two sessions have the same record, whether they keep brains or not."""
    plain, keeping = run().metadata(), run(checkpoint=2).metadata()
    different = {"timing", "experiment_id"}
    assert json.loads(plain.model_dump_json(exclude=different)) == json.loads(
        keeping.model_dump_json(exclude=different)
    )
