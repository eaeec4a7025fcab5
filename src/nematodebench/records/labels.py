"""What brains are called where people read it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nematodebench.vocabulary import FROZEN

__all__ = ["shown_brain"]


def shown_brain(brain: str, config: Mapping[str, Any]) -> str:
    """The name of a brain; of a policy that was trained elsewhere, the name of its file."""
    return Path(str(config["policy"])).name if brain == FROZEN and "policy" in config else brain
