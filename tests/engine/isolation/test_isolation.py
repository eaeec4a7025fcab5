"""A foreign brain in the sandbox: the same bits as in one process, and nothing it tries reaches anything."""

import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.isolation.mailbox import Mail
from nematodebench.engine.isolation.sandbox import Limits
from nematodebench.engine.isolation.shared import FEEDBACK, WORDS
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.kernels.abi import Feedback
from nematodebench.records.memory_hash import memory_kind
from nematodebench.tasks.continual import continual_task
from nematodebench.tasks.registry import get_task

FILE = Path(__file__).parent / "cheats.py"
TASK = get_task("foraging_small-v1").with_episodes(5)
SEED = 7314159265358979


def foreign(name, **limits):
    return Foreign(f"{FILE}:{name}", (FILE,), limits=Limits(memory=2 << 30, **limits), seconds=60)


def run(name, task=TASK, seed=SEED, brain=None, config=None):
    brain = brain or foreign(name)
    compile_for(task, brain)
    return execute(RunSpec(task, name, brain, config or {}, seed))


def in_process(name, task=TASK, seed=SEED):
    sys.path.insert(0, str(FILE.parent))
    import cheats

    return execute(RunSpec(task, name, getattr(cheats, name), {}, seed))


def test_the_mailbox_is_laid_out_as_both_sides_read_it():
    assert tuple(Mail.singles) == WORDS
    assert tuple(Feedback.singles) == FEEDBACK


def test_isolated_and_in_process_give_the_same_bits():
    isolated, plain = run("Honest"), in_process("Honest")
    assert isolated.failure is None
    assert isolated.record_hash == plain.record_hash
    assert isolated.memory_hash == plain.memory_hash
    assert isolated.steps == plain.steps


def test_a_brain_that_is_trusted_runs_without_a_sandbox_with_the_same_bits():
    trusted = run("Honest", brain=replace(foreign("Honest"), trusted=True))
    assert trusted.failure is None
    assert trusted.record_hash == in_process("Honest").record_hash


@pytest.mark.parametrize(("name", "kind"), [("TellsNothing", 3), ("CannotTell", None)])
def test_a_memory_that_is_taken_has_the_same_hash_in_isolation(name, kind):
    isolated, plain = run(name), in_process(name)
    trusted = run(name, brain=replace(foreign(name), trusted=True))
    assert isolated.failure is trusted.failure is None
    assert isolated.memory_hash == plain.memory_hash == trusted.memory_hash
    assert kind == (None if plain.memory_hash is None else memory_kind(plain.memory_hash))


def test_probes_of_copies_give_the_same_bits():
    order = ("pattern_memory", "association")
    task = continual_task(order, dict.fromkeys(order, 2), probe_episodes=1)
    isolated, plain = run("Honest", task), in_process("Honest", task)
    assert isolated.failure is None
    assert isolated.record_hash == plain.record_hash
    assert isolated.memory_hash == plain.memory_hash


@pytest.mark.parametrize(
    "name",
    [
        "ReadsTheStack",
        "WritesFiles",
        "OpensSockets",
        "StartsProcesses",
        "KillsItsParent",
        "KnowsTheSeed",
        "LeavesMarks",
    ],
)
def test_a_brain_that_reaches_for_more_finds_nothing(name):
    result = run(name, config={"run_seed": SEED} if name == "KnowsTheSeed" else None)
    assert result.failure is None, result.failure
    assert result.record_hash == in_process("Honest").record_hash


def test_a_patched_scorer_is_another_scorer():
    result = run("PatchesTheScorer")
    assert result.failure is None
    assert TASK.measure([result.records]).runs == TASK.measure([in_process("Honest").records]).runs


def test_nothing_is_kept_between_runs():
    specs = [RunSpec(TASK, "KeepsState", foreign("KeepsState"), {}, SEED, k) for k in range(3)]
    results = list(execute_all(specs, "threads", 2, Watch()))
    assert [result.failure for result in results] == [None] * 3
    assert len({result.record_hash for result in results}) == 1


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("ForksForever", "Operation not permitted"),
        ("EatsMemory", "MemoryError"),
        ("HoardsSegments", "Operation not permitted"),
        ("HoardsFiles", "Operation not permitted"),
        ("FillsTheDisk", "No space left on device|File too large|code"),
        ("Exits", "code 7"),
        ("RaisesOddly", "SystemExit"),
    ],
)
def test_a_brain_that_breaks_something_fails_its_run_with_a_clear_word(name, word):
    result = run(name)
    assert result.failure is not None
    assert any(part in result.failure.message for part in word.split("|")), result.failure.message
    assert result.failure.message.isprintable()
    assert not result.records


def test_a_brain_that_never_answers_is_stopped():
    result = run("NeverAnswers", brain=replace(foreign("NeverAnswers"), seconds=3))
    assert result.failure is not None
    assert "more than 3 s" in result.failure.message


@pytest.mark.slow
def test_a_brain_that_spoils_the_shared_memory_hurts_only_itself():
    result = run("WritesTheMailbox")
    if result.failure is None:
        rewards = result.records["train"][:, 0]
        assert np.isfinite(rewards).all()
        assert (np.abs(rewards) < 1e3).all()


EXAMPLE = Path(__file__).parents[3] / "examples" / "sarsa_lambda.py"


def test_a_compiled_brain_gives_the_same_bits_in_isolation(tmp_path):
    brain = Foreign(f"{EXAMPLE}:SarsaLambda", (EXAMPLE,), seconds=300, cache=tmp_path / "cache")
    task = get_task("foraging_small-v1").with_episodes(30)
    isolated = run("sarsa", task, brain=brain)
    assert isolated.failure is None
    (archive,) = brain.cache.iterdir()
    with tarfile.open(archive) as kept:
        compiled = [Path(name).name for name in kept.getnames() if name.endswith(".nbc")]
    assert {"act", "learn"} <= {name.partition(".")[2].partition("-")[0] for name in compiled}, "it was not kept"
    content = archive.read_bytes()
    sys.path.insert(0, str(EXAMPLE.parent))
    from sarsa_lambda import SarsaLambda

    compile_for(task, SarsaLambda)
    plain = execute(RunSpec(task, "sarsa", SarsaLambda, SarsaLambda.config(), SEED))
    assert isolated.record_hash == plain.record_hash
    assert isolated.memory_hash == plain.memory_hash
    assert run("sarsa", task, brain=brain).record_hash == plain.record_hash
    assert archive.read_bytes() == content


GREEDY = """
import contextlib, os
from pathlib import Path

os.makedirs("/tmp/cache", exist_ok=True)
for name in ("complete", "compiled.tar", "/cache/complete"):
    with contextlib.suppress(OSError):
        os.symlink("{target}", Path("/tmp/cache", name))
for descriptor in range(128):
    with contextlib.suppress(OSError):
        os.write(descriptor, b"not an archive")
print("not an archive either")

class Brain:
    def __init__(self, observation_space, action_space, config, seed):
        pass

    def begin_episode(self):
        pass

    def act(self, observation):
        return 0
"""


def test_what_a_brain_compiles_beforehand_reaches_no_file_of_the_host(tmp_path):
    """It writes to whatever is open, and leaves links where the host might look for a mark of its own."""
    source, target = tmp_path / "greedy.py", tmp_path / "target"
    source.write_text(GREEDY.format(target=target))
    brain = Foreign(f"{source}:Brain", (source,), seconds=60, cache=tmp_path / "cache")
    result = run("Brain", brain=brain)
    assert [path.name for path in brain.cache.iterdir()] == ["compiled.tar"]
    assert not target.exists()
    assert result.failure is not None
    assert "ReadError" in result.failure.message


@pytest.mark.slow
def test_what_a_compiled_brain_says_of_itself_is_told_in_isolation_too():
    where = "nematodebench.brains.reservoir.echo_state:EchoState"
    isolated = run("echo_state", TASK, brain=Foreign(where, seconds=300))
    brain = get_brain("echo_state")
    compile_for(TASK, brain)
    plain = execute(RunSpec(TASK, "echo_state", brain, brain.config(), SEED))
    assert plain.descriptors
    assert isolated.descriptors == plain.descriptors
