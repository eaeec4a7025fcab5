"""The one palette: colours by role, light and dark, and the ramp of fields. The browser reads the same file."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.errors import UsageError
from nematodebench.kernels.scene import ROLES

__all__ = ["THEMES", "Colour", "Theme", "palette", "theme"]

Colour = tuple[int, int, int]
THEMES = ("light", "dark")
_LEAST, _MOST = 0.06, 0.62
"""How much of the field's colour is seen where it is 0 and where it is 1."""


@cache
def palette() -> dict[str, Any]:
    """The palette as it stands in its file."""
    found: dict[str, Any] = json.loads(files(__package__).joinpath("palette.json").read_text(encoding="utf-8"))
    return found


def _colour(code: str) -> Colour:
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


@dataclass(frozen=True)
class Theme:
    """Colours on a light or on a dark ground."""

    name: str
    background: Colour
    surface: Colour
    hairline: Colour
    roles: tuple[Colour, ...]
    ramp: NDArray[np.float64]

    def role(self, number: float) -> Colour:
        """The colour of a role, by its number; ink for a number that stands for none."""
        place = int(number)
        return self.roles[place if 0 <= place < len(self.roles) else ROLES.index("ink")]

    def field(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """A field as colours: the ramp, softened towards the ground so that things on it are seen."""
        share = np.clip(values.astype(np.float64), 0.0, 1.0)
        at = share * (len(self.ramp) - 1)
        low = np.minimum(at.astype(np.int64), len(self.ramp) - 2)
        colour = self.ramp[low] + (at - low)[..., None] * (self.ramp[low + 1] - self.ramp[low])
        weight = (_LEAST + (_MOST - _LEAST) * share)[..., None]
        mixed: NDArray[np.uint8] = np.rint(weight * colour + (1.0 - weight) * np.array(self.surface)).astype(np.uint8)
        return mixed


@cache
def theme(name: str) -> Theme:
    """One of the themes."""
    if name not in THEMES:
        raise UsageError(f"Theme {name!r} does not exist. There are: {', '.join(THEMES)}.")
    found = palette()[name]
    background, surface, hairline = (_colour(found[key]) for key in ("background", "surface", "hairline"))
    roles = tuple(_colour(found["roles"][role]) for role in ROLES)
    ramp = np.array([_colour(code) for code in palette()["field"]], dtype=np.float64)
    # What is much stands out from the ground: dark on a light one, bright on a dark one.
    return Theme(name, background, surface, hairline, roles, ramp[::-1] if found["field_reversed"] else ramp)
