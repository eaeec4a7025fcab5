"""Makes every task known to Gymnasium as ``nematodebench/<task id>``, without importing any world or the compiler."""

from gymnasium.envs.registration import register, registry

__all__ = ["NAMESPACE", "register_all"]

NAMESPACE = "nematodebench"


def register_all() -> None:
    """Registers every built-in task that is not registered yet."""
    from nematodebench.tasks.listing import task_ids

    for task in task_ids():
        name = f"{NAMESPACE}/{task}"
        if name in registry:
            continue
        if task.startswith("continual-"):  # several worlds in one body
            register(name, entry_point="nematodebench.interop.continual:ContinualEnv", kwargs={"task": task})
        else:
            register(
                name,
                entry_point="nematodebench.interop.env:NematodeEnv",
                vector_entry_point="nematodebench.interop.vector:NematodeVectorEnv",
                kwargs={"task": task},
            )
