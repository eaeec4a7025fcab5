"""The names of the package that outsiders use."""

import nematodebench as nb


def test_every_public_name_exists():
    assert [name for name in nb.__all__ if not hasattr(nb, name)] == []


def test_brains_and_tasks_are_listed_by_name():
    assert {"null_random", "mlp_ppo"} <= set(nb.list_brains())
    assert {"foraging_small-v1", "torus-v1", "continual-v1"} <= set(nb.list_tasks())


def test_packages_are_plain_modules():
    import nematodebench.brains
    import nematodebench.tasks

    assert not callable(nematodebench.brains)
    assert not callable(nematodebench.tasks)
