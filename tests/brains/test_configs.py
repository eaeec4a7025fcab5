"""Parameters of a brain are declared in a pydantic model or a dataclass; no key is ignored silently."""

import dataclasses

import numpy as np
import pytest
from pydantic import BaseModel, Field, computed_field

from nematodebench.brains.base import NoConfig
from nematodebench.brains.configs import dump_config, parameters_of, resolve_config, resolve_stored
from nematodebench.errors import UsageError


@dataclasses.dataclass(frozen=True)
class Inner:
    decay: float = 0.9


@dataclasses.dataclass(frozen=True)
class AsFrozen:
    units: int
    rate: float = 0.1


@dataclasses.dataclass
class AsDataclass:
    units: int
    rate: float = 0.1
    layers: list[int] = dataclasses.field(default_factory=lambda: [8, 8])
    inner: Inner = Inner()


class AsModel(BaseModel):
    units: int = Field(description="how many")
    rate: float = Field(0.1, ge=0)


class Open(BaseModel, extra="allow"):
    rate: float = 0.1


def brain_with(declared):
    return type("Mine", (), {"config": declared} if declared else {})


@pytest.mark.parametrize("declared", [AsDataclass, AsFrozen, AsModel])
def test_a_config_is_built_of_what_is_given_and_of_defaults(declared):
    config = resolve_config("mine", brain_with(declared), {"units": 4})
    assert type(config) is declared
    assert (config.units, config.rate) == (4, 0.1)


def test_a_dataclass_survives_being_stored():
    brain = brain_with(AsDataclass)
    config = resolve_config("mine", brain, {"units": 4, "layers": [2], "inner": {"decay": 0.5}})
    plain = dump_config(config)
    assert plain == {"units": 4, "rate": 0.1, "layers": [2], "inner": {"decay": 0.5}}
    assert resolve_config("mine", brain, plain) == config


@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        (AsDataclass, {"units": 1, "lrr": 1}, "'mine' has no parameter 'lrr'. It has: units, rate, layers, inner."),
        (AsModel, {"units": 1, "lrr": 1}, "'mine' has no parameter 'lrr'. It has: units, rate."),
        (NoConfig, {"lrr": 1}, "'mine' has no parameter 'lrr'. It has: none."),
        (None, {"lrr": 1}, "declares no parameters, so 'lrr' means nothing to it"),
        (AsDataclass, {"units": "many"}, "Parameter 'units' of brain 'mine': Input should be a valid integer"),
        (AsModel, {"units": 1, "rate": -1}, "greater than or equal to 0"),
        (AsDataclass, {}, "needs a value for its parameter 'units'"),
        (AsModel, {}, "needs a value for its parameter 'units'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(declared, given, message):
    with pytest.raises(UsageError) as error:
        resolve_config("mine", brain_with(declared), given)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_that_wants_any_key_gets_it():
    assert resolve_config("mine", brain_with(Open), {"more": 3}).more == 3


def test_a_stored_result_keeps_keys_that_nobody_declared():
    assert resolve_stored("mine", brain_with(None), {"lrr": 1}) == {"lrr": 1}


@pytest.mark.parametrize("declared", [AsDataclass, AsFrozen, AsModel])
def test_parameters_are_listed_with_their_defaults(declared):
    fields = parameters_of(brain_with(declared))
    assert list(fields)[:2] == ["units", "rate"]
    assert fields["rate"].get_default() == 0.1
    assert parameters_of(brain_with(None)) == {}


class _Part(BaseModel):
    depth: int = 2


@dataclasses.dataclass(frozen=True)
class _Outer:
    inner: _Part = dataclasses.field(default_factory=_Part)
    several: list[_Part] = dataclasses.field(default_factory=list)
    free: dict[str, int] = dataclasses.field(default_factory=dict)
    name: str = "x"
    limit: int | None = None


class _Nested:
    config = _Outer


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"inner": {"dept": 3}}, "has no parameter 'inner.dept'. Its parameter 'inner' has: depth."),
        ({"several": [{"depth": 1}, {"dept": 3}]}, "has no parameter 'several.1.dept'. Its parameter 'several.1' has"),
        ({"name": 5}, "A text is written 'name=\"5\"'."),
        ({"limit": "None"}, "None is written limit=null."),
    ],
)
def test_keys_inside_of_a_parameter_and_words_for_values_are_not_swallowed(given, reason):
    with pytest.raises(UsageError) as error:
        resolve_config("nested", _Nested, given)
    assert reason in str(error.value)


def test_what_fits_inside_of_a_parameter_is_taken():
    given = {"inner": {"depth": 3}, "several": [{"depth": 1}], "free": {"any": 1}}
    config = resolve_config("nested", _Nested, given)
    assert (config.inner.depth, config.several[0].depth, config.free) == (3, 1, {"any": 1})


@dataclasses.dataclass
class Halves:
    units: int = 4
    half: int = dataclasses.field(init=False, default=2)


class Squares(BaseModel):
    units: int = 4

    @computed_field  # type: ignore[prop-decorator]
    @property
    def square(self) -> int:
        return self.units**2


class Renamed(BaseModel):
    units: int = Field(4, alias="n")


@pytest.mark.parametrize("declared", [Halves, Squares, Renamed])
def test_what_is_stored_is_what_can_be_given(declared):
    config = resolve_config("mine", brain_with(declared), {"units": 6})
    assert config.units == 6
    assert dump_config(config) == {"units": 6}
    assert resolve_stored("mine", brain_with(declared), dump_config(config)) == config


@dataclasses.dataclass
class Doubles:
    units: int = 4

    def __post_init__(self):
        if self.units > 100:
            raise RuntimeError("too many")
        self.units = self.units * 2


@dataclasses.dataclass
class Checks:
    rate: float = 0.1

    def __post_init__(self):
        if self.rate > 1:
            raise ValueError("rate is at most 1")


@dataclasses.dataclass
class Wrong:
    rate: int = "many"


@dataclasses.dataclass
class Functions:
    activation: object = max


@dataclasses.dataclass
class Arrays:
    weights: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))


@dataclasses.dataclass
class Lost:
    rate: "NotThere" = 1  # noqa: F821


class Hidden(BaseModel):
    rate: float = Field(0.1, exclude=True)


class Exact(BaseModel, strict=True):
    pair: tuple[int, int] = (1, 2)


class Forgotten:
    rate: float = 0.1


@pytest.mark.parametrize(
    ("declared", "given", "reason"),
    [
        (Halves, {"half": 3}, "has no parameter 'half'. It has: units"),
        (Renamed, {"n": 3}, "has no parameter 'n'. It has: units"),
        (Doubles, {"units": 3}, "'units' of brain 'mine' is 6, and read again from what is stored it becomes 12"),
        (Doubles, {"units": 200}, r"RuntimeError: too many \(.*test_configs.py, line \d+\)"),
        (Checks, {"rate": 2}, "The parameters of brain 'mine': rate is at most 1.$"),
        (Wrong, {}, "read again. Parameter 'rate' of brain 'mine': Input should be a valid integer"),
        (Functions, {}, "cannot be stored as JSON: Unable to serialize"),
        (Arrays, {}, "The config Arrays cannot be used"),
        (Lost, {}, "The config Lost cannot be used"),
        (Hidden, {"rate": 0.2}, "'rate' of brain 'mine' is declared so that nothing is stored of it"),
        (Exact, {}, r"read again. Parameter 'pair' of brain 'mine': .* \(got \[1, 2\]\).$"),
        (Forgotten, {"rate": 0.2}, "config = Forgotten, which is neither a dataclass nor a pydantic model"),
    ],
)
def test_a_config_that_could_not_be_read_again_is_refused(declared, given, reason):
    with pytest.raises(UsageError, match=reason) as error:
        resolve_config("mine", brain_with(declared), given)
    assert "\n" not in str(error.value)
