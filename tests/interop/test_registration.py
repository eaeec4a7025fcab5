"""Tasks as Gymnasium ids."""

import subprocess
import sys
import warnings

import gymnasium
import pytest
from gymnasium.vector import AutoresetMode

from nematodebench.interop import registration
from nematodebench.interop.env import NematodeEnv
from nematodebench.interop.vector import NematodeVectorEnv
from nematodebench.tasks.listing import task_ids
from nematodebench.tasks.registry import built_in_tasks

FORAGING = "nematodebench/foraging_small-v1"


@pytest.fixture(autouse=True)
def _registered():
    """All tasks are registered; what was registered before comes back."""
    before = dict(gymnasium.registry)
    registration.register_all()
    yield
    gymnasium.registry.clear()
    gymnasium.registry.update(before)


def test_make_gives_the_scalar_environment():
    env = gymnasium.make(FORAGING)
    assert isinstance(env.unwrapped, NematodeEnv)
    assert env.spec.id == FORAGING


@pytest.mark.parametrize("mode", ["vector_entry_point", None])
def test_make_vec_gives_the_compiled_lanes(mode):
    env = gymnasium.make_vec(FORAGING, num_envs=4, vectorization_mode=mode)
    assert isinstance(env, NematodeVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert env.reset(seed=0)[0].shape == (4, 5)


def test_make_vec_can_still_put_scalar_environments_together():
    env = gymnasium.make_vec(FORAGING, num_envs=2, vectorization_mode="sync")
    assert env.reset(seed=0)[0].shape == (2, 5)


def test_a_specification_survives_json():
    spec = gymnasium.envs.registration.EnvSpec.from_json(gymnasium.spec(FORAGING).to_json())
    assert isinstance(gymnasium.make(spec).unwrapped, NematodeEnv)


def test_a_wrong_id_gets_gymnasiums_near_miss():
    with pytest.raises(gymnasium.error.NameNotFound, match="Did you mean: `foraging_small`"):
        gymnasium.make("nematodebench/foragin_small-v1")


def test_a_wrong_version_says_which_there_are():
    with pytest.raises(gymnasium.error.VersionNotFound, match="v1"):
        gymnasium.make("nematodebench/foraging_small-v9")


def test_registering_again_changes_nothing():
    spec = gymnasium.spec(FORAGING)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registration.register_all()
    assert gymnasium.spec(FORAGING) is spec


def test_registration_imports_neither_the_compiler_nor_a_world():
    code = (
        "import sys; from nematodebench.interop.registration import register_all; register_all();"
        "print([m for m in sys.modules if m.split('.')[0] in ('numba', 'llvmlite', 'torch')"
        " or m.startswith('nematodebench.worlds')])"
    )
    task_ids()  # keeps the list of tasks if it is not kept yet
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_built_in_task_is_registered_also_one_without_a_score():
    assert {f"nematodebench/{name}" for name in built_in_tasks()} <= set(gymnasium.registry)
    assert "nematodebench/torus-v1" in gymnasium.registry
