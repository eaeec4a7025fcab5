"""Frozen policies get the score of what they do, and nothing is learned."""

import inspect
from functools import partial

import numpy as np
import pytest
from policy_files import RULE, TASK, bits, here, rule, write_nir, write_onnx, write_torch_script

import nematodebench as nb
from nematodebench.errors import UsageError
from nematodebench.policies.base import Body, Use
from nematodebench.policies.decisions import Decision


def null(observation):
    return int(np.random.randint(4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("policies")
    write_onnx(place / "rule.onnx")
    write_torch_script(place / "rule.pt")
    write_nir(place / "rule.nir")
    (place / "a_rule.py").write_text(
        f"import numpy as np\nRULE = np.array({RULE.tolist()}, dtype=np.float32)\n"
        "BIAS = np.array([0, 0, 0, -5], dtype=np.float32)\n\n" + inspect.getsource(rule)
    )
    return place


def test_the_null_as_a_function_scores_nothing():
    record = nb.score(partial(null), TASK, runs=12, seed=5).metadata()
    assert record.brain_class == "pretrained"
    assert abs(record.normalised.unclamped) < 4 * record.normalised.se + 0.002


def test_a_copy_of_the_gradient_rule_scores_what_the_gradient_follower_scores():
    numbers = np.random

    def follower(observation):
        _, sine, cosine, _, touch = observation.tolist()
        if numbers.random() < 0.1:
            return int(numbers.randint(4))
        if sine == cosine == 0:
            return int(1 + numbers.randint(2)) if touch > 0 or numbers.random() < 0.03 else 0
        if cosine > 0 and cosine >= abs(sine):
            return 0
        return 2 if (sine > 0) != (touch > 0) else 1

    frozen = nb.score(follower, TASK, runs=10, seed=5).metadata().metrics["composite_score"]
    known = nb.run(TASK, "gradient_follower", runs=10, seed=5).metrics.composite_score
    assert abs(frozen.mean - known.mean) < 4 * np.hypot(frozen.std, known.std) / np.sqrt(10) + 0.001
    assert known.mean > 0.9


def test_every_format_of_one_rule_has_the_same_bits(folder, monkeypatch):
    monkeypatch.chdir(folder)
    wanted = bits(here(partial(rule), episodes=5))
    assert len(set(wanted)) == 2
    for source in ("rule.onnx", "rule.pt", "rule.nir", "a_rule.py:rule", "policy_files:rule"):
        assert bits(here(source, episodes=5)) == wanted, source
    assert bits(here(rule, episodes=5)) == wanted


def test_processes_give_the_bits_of_this_one(folder):
    source = str(folder / "rule.onnx")
    assert bits(nb.score(source, TASK, runs=2, episodes=5, seed=1)) == bits(here(source, episodes=5))


def test_samples_are_drawn_from_the_seed(folder):
    source = str(folder / "rule.onnx")
    drawn = bits(here(source, episodes=3, sample=True))
    assert drawn == bits(here(source, episodes=3, sample=True))
    assert drawn != bits(here(source, episodes=3, sample=True, seed=2))
    assert drawn != bits(here(source, episodes=3))


def test_a_policy_with_a_memory_begins_every_run_anew():
    class Counting:
        def __init__(self):
            self.steps = self.episodes = 0

        def begin_episode(self):
            self.episodes += 1

        def __call__(self, observation):
            self.steps += 1
            return (self.steps // 7 + self.episodes) % 3

    policy = Counting()
    assert bits(here(policy, episodes=3)) == bits(here(policy, episodes=3))
    assert policy.steps == 0


def test_training_before_the_score_is_left_out_and_effectors_are_clipped():
    session = here(lambda observation: np.clip(observation * 3, 0, 1), "wall-v2", runs=1)
    assert [phase.name for phase in session.plan.task.phases] == [session.plan.task.scored]
    assert session.metadata().normalised is not None
    assert not session.plan.task.official
    decide = Decision("net", Use(Body(2, 0, 2)))
    assert decide([[1.5, -0.2]]).tolist() == [1.0, 0.0]


def test_outputs_become_actions():
    body = Body(3, 4, 0)
    assert Decision("net", Use(body))([[0.0, 3.0, 1.0, 2.0]]) == 1
    assert Decision("net", Use(body))(np.array([2])) == 2
    decide = Decision("net", Use(body, sample=True, seed=1))
    counts = np.bincount([decide(np.log([0.5, 0.3, 0.2, 1e-9])) for _ in range(4000)], minlength=4) / 4000
    assert np.abs(counts - [0.5, 0.3, 0.2, 0.0]).max() < 0.04
    with pytest.raises(ValueError, match="not finite"):
        decide([0.0, np.nan, 0.0, 0.0])


def test_a_session_is_named_by_its_file(folder):
    session = here(str(folder / "rule.onnx"), episodes=2)
    assert f"{TASK.replace('-v', '_untrained-v')} rule.onnx: 2 runs" in repr(session)
    assert session.metadata().brain_config["sha256"]


def test_a_file_that_has_changed_is_not_taken_for_the_one_that_was_scored(tmp_path):
    source = write_onnx(tmp_path / "net.onnx")
    plan = here(source, episodes=2).plan
    write_onnx(tmp_path / "net.onnx", bias=np.ones(4, dtype=np.float32))
    with pytest.raises(UsageError, match=r"net\.onnx has changed"):
        plan.brain.check_body(*_spaces(), plan.config)


def _spaces():
    from nematodebench.engine.python_brain import spaces_of
    from nematodebench.engine.run import interface
    from nematodebench.tasks.registry import get_task

    return spaces_of(interface(get_task(TASK)))
