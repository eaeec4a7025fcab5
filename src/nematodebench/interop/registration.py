"""Makes every task known to Gymnasium as ``nematodebench/<task id>``, without importing any world or the compiler."""

from pathlib import Path

from gymnasium.envs.registration import register, registry

__all__ = ["NAMESPACE", "register_all"]

NAMESPACE = "nematodebench"

_ANCHORS = Path(__file__).resolve().parent.parent / "tasks" / "anchors"


def register_all() -> None:
    """Registers every built-in task that is not registered yet; the names of the anchor files say which there are."""
    for path in sorted(_ANCHORS.glob("*.json")):
        name = f"{NAMESPACE}/{path.stem}"
        if name not in registry:
            register(
                name,
                entry_point="nematodebench.interop.env:NematodeEnv",
                vector_entry_point="nematodebench.interop.vector:NematodeVectorEnv",
                kwargs={"task": path.stem},
            )
