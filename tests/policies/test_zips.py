"""Zips of stable-baselines3 act as the model that saved them, and none of their pickles is opened."""

import json
import pickle
import zipfile

import numpy as np
import pytest
import torch
from policy_files import TASK, bits, here, write_zip

from nematodebench.errors import UsageError
from nematodebench.policies.base import Body, Use
from nematodebench.policies.reading import read_policy

pytest.importorskip("stable_baselines3")
SMALL = {"policy_kwargs": {"net_arch": [16], "activation_fn": torch.nn.ReLU}}
BUFFER = {"buffer_size": 10}
MODELS = [
    ("PPO", TASK, SMALL), ("A2C", TASK, {}), ("DQN", TASK, BUFFER), ("PPO", "wall-v2", {}),
    ("SAC", "wall-v2", BUFFER), ("TD3", "wall-v2", BUFFER),
]  # fmt: skip


@pytest.mark.parametrize(("algorithm", "task", "settings"), MODELS)
def test_a_zip_acts_as_its_model(tmp_path, algorithm, task, settings):
    model = write_zip(tmp_path / "model.zip", algorithm, task, **settings)
    body = Body.of(model.observation_space, model.action_space)
    policy = read_policy(str(tmp_path / "model.zip"), Use(body))
    numbers = np.random.default_rng(0)
    for _ in range(50):
        seen = numbers.uniform(-1, 1, body.inputs).astype(np.float32)
        wanted = model.predict(seen, deterministic=True)[0]
        assert np.allclose(policy.act(seen), wanted, atol=1e-6)
    torch.manual_seed(1)
    drawn = [float(np.sum(policy.act(seen))) for _ in range(20)]
    assert len(set(drawn)) == 1


def test_a_zip_is_scored_with_the_same_bits_twice(tmp_path):
    write_zip(tmp_path / "model.zip", "PPO", TASK, **SMALL)
    source = str(tmp_path / "model.zip")
    first = bits(here(source, episodes=1))
    assert first == bits(here(source, episodes=1))
    sampled = bits(here(source, episodes=1, sample=True))
    assert first != sampled == bits(here(source, episodes=1, sample=True))


class Bomb:
    """Raises where it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle of the zip was opened')",))


def rewritten(path, change):
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    words = json.loads(content["data"])
    change(words)
    content["data"] = json.dumps(words).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)


def test_no_pickle_of_a_zip_is_opened(tmp_path):
    import base64

    path = tmp_path / "model.zip"
    write_zip(path, "PPO", TASK, **SMALL)
    bomb = base64.b64encode(pickle.dumps(Bomb())).decode()

    def arm(words):
        for value in words.values():
            if isinstance(value, dict) and ":serialized:" in value:
                value[":serialized:"] = bomb

    rewritten(path, arm)
    assert read_policy(str(path), Use(Body(5, 4, 0))).act(np.zeros(5, dtype=np.float32)) in range(4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda words: words.update(use_sde=True), "state-dependent exploration, which is not read from zips"),
        (lambda words: words["policy_class"].update(__module__="mine"), "a policy of mine, which is not read"),
        (lambda words: words["policy_kwargs"].update(features_extractor_class="<class 'X'>"), "which is code"),
        (
            lambda words: words["policy_kwargs"].update(activation_fn="<class 'my.Act'>"),
            "the activation <class 'my.Act'>",
        ),
        (lambda words: words["policy_kwargs"].update(net_arch=[8]), "parameters that do not fit its description"),
    ],
)
def test_what_needs_code_is_refused(tmp_path, change, message):
    write_zip(tmp_path / "model.zip", "PPO", TASK, **SMALL)
    rewritten(tmp_path / "model.zip", change)
    with pytest.raises(UsageError, match=message):
        read_policy(str(tmp_path / "model.zip"), Use(Body(5, 4, 0)))


def test_another_range_of_effectors_is_moved_to_ours(tmp_path):
    import gymnasium

    class Symmetric(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)

    from stable_baselines3 import PPO

    model = PPO("MlpPolicy", Symmetric(), seed=1, device="cpu")
    model.save(tmp_path / "model.zip")
    seen = np.array([0.3, -0.8], dtype=np.float32)
    wanted = (model.predict(seen, deterministic=True)[0] + 1) / 2
    assert np.allclose(read_policy(str(tmp_path / "model.zip"), Use(Body(2, 0, 2))).act(seen), wanted, atol=1e-6)
