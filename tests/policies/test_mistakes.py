"""Wrong uses of ``score``: one line that names the thing and the way out."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from policy_files import TASK, write_nir, write_onnx, write_torch_script, write_zip

import nematodebench as nb
from nematodebench.cli import build
from nematodebench.errors import UsageError

FOUR, FIVE = np.zeros(4, dtype=np.float32), np.zeros(5, dtype=np.float32)
ODD_POLICIES = """
NUMBER = 3

class Brain:
    pass

def go(observation):
    return 'left'

def far(observation):
    return 7

def wide(observation):
    return [0, 1]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that are not what they should be."""
    place = tmp_path_factory.mktemp("mistakes")
    write_onnx(place / "wide.onnx", np.zeros((4, 6), "f4"), FOUR, ("batch", 6))
    write_onnx(place / "long.onnx", np.zeros((5, 5), "f4"), FIVE)
    write_onnx(place / "two.onnx", more_inputs=("hidden",))
    write_torch_script(place / "wide.pt", np.zeros((4, 6), "f4"), FOUR)
    write_nir(place / "wide.nir", np.zeros((4, 6), "f4"), FOUR)
    write_zip(place / "wall.zip", "PPO", "wall-v2")
    for name in ("none.onnx", "none.pt", "none.nir", "none.zip", "net.pkl"):
        (place / name).write_bytes(b"nothing of this kind")
    (place / "a_policy.py").write_text(ODD_POLICIES)
    return place


def complaint(*words):
    with pytest.raises(UsageError) as error:
        build()(["score", *words, "--runs", "1"], standalone_mode=False)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("missing.onnx", "missing.onnx does not exist. Give a stable-baselines3 zip, an .onnx file"),
        (".", ". is a folder. Give"),
        ("net.pkl", "net.pkl is no policy that can be read. Give a stable-baselines3 zip"),
        ("a_policy.py", "Name the function in it: a_policy.py:function"),
        ("a_policy.py:gone", "module a_policy has no function 'gone'. Did you mean 'go'?"),
        ("a_policy.py:Brain", "is a class, and a policy is a function. A class is a brain: nematodebench run TASK"),
        ("a_policy.py:NUMBER", "a_policy.py:NUMBER is no function: it is a int"),
        ("a_policy.py:go", "a_policy.py:go cannot act on 5 sensors: ValueError: could not convert string to float"),
        ("a_policy.py:far", "it returned 7, and an action here is a whole number from 0 to 3"),
        ("a_policy.py:wide", "it returned 2 numbers, and an action here is 1"),
        ("nowhere.py:go", "there is no file nowhere.py"),
        ("none.onnx", "none.onnx cannot be read by onnxruntime"),
        ("none.pt", "none.pt is no TorchScript file. Save a module with torch.jit.script(module).save('none.pt')"),
        ("none.nir", "none.nir is no NIR graph"),
        ("none.zip", "none.zip is no zip that a model of stable-baselines3 has saved"),
        ("wide.onnx", "wide.onnx takes batchx6 numbers (tensor(float)), and this body has 5 sensors"),
        ("long.onnx", "long.onnx gives 5 numbers, and this body has 4 actions: it was made for another task"),
        ("two.onnx", "two.onnx has 2 inputs (x, hidden): a policy has one"),
        ("wide.pt", "wide.pt cannot act on 5 sensors: RuntimeError"),
        ("wide.nir", "wide.nir takes 6 numbers, and this body has 5 sensors"),
        ("wall.zip", "was trained with 2 sensors and 2 effectors, and this body has 5 sensors and 4 actions"),
    ],
)
def test_one_line_says_what_to_do(folder, monkeypatch, policy, message):
    monkeypatch.chdir(folder)
    assert message in complaint(policy, "--task", TASK)


def test_options_that_mean_nothing_are_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert "there is nothing to sample" in complaint("a_policy.py:go", "--task", TASK, "--sample")
    assert "Did you mean 'foraging_small-v" in complaint("wide.onnx", "--task", "foraging_smal-v2")
    with pytest.raises(UsageError, match="returns the action itself"):
        nb.score(lambda observation: 0, TASK, sample=True)
    with pytest.raises(UsageError, match="this is a int"):
        nb.score(3, TASK)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "runs is 0"),
        ({"runs": "many"}, "runs is many: Input should be a valid integer"),
        ({"episodes": 0}, "episodes is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": "all"}, "workers is 'all': give a whole number, at least 1."),
        ({"task": 3}, "A task is given by its id, like 'foraging_small-v2'; this is a int."),
    ],
)
def test_values_that_cannot_be_are_one_line(options, message):
    with pytest.raises(UsageError) as error:
        nb.score(lambda observation: 0, **{"task": TASK, **options})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_steps_of_a_network_that_has_none_are_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert "wide.onnx is no NIR graph: leave out dt and steps" in complaint("wide.onnx", "--task", TASK, "--steps", "5")


@pytest.mark.parametrize("kind", ["MultiBinary", "MultiDiscrete"])
def test_a_zip_with_other_actions_is_not_taken_for_choices(folder, monkeypatch, kind):
    """Four switches have four outputs, as four choices have."""
    ppo = pytest.importorskip("stable_baselines3").PPO
    monkeypatch.chdir(folder)
    actions = {"MultiBinary": gymnasium.spaces.MultiBinary(4), "MultiDiscrete": gymnasium.spaces.MultiDiscrete([2, 2])}
    env = gymnasium.make(f"nematodebench/{TASK}").unwrapped
    env.action_space = actions[kind]
    ppo("MlpPolicy", env, n_steps=8, batch_size=8).save("switches.zip")
    assert f"was trained with a space of the kind {kind}" in complaint("switches.zip", "--task", TASK)


LIBRARIES = {"onnxruntime": ("wide.onnx", "onnx"), "torch": ("wide.pt", "torch"), "nir": ("wide.nir", "nir"),
             "stable_baselines3": ("wall.zip", "sb3")}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_is_not_installed_is_one_line(folder, library):
    file, extra = LIBRARIES[library]
    words = ["nematodebench", "score", file, "--task", TASK]
    code = f"import sys; sys.modules[{library!r}] = None; sys.argv = {words!r}; "
    code += "from nematodebench.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{file} needs {library}, which is not installed. Install it with: pip install 'nematodebench[{extra}]'" in (
        done.stderr
    )
    assert len(done.stderr.splitlines()) == 1
