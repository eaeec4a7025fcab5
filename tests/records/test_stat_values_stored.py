"""How a metric's value is stored: strictly, and without an interval where there is none."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from nematodebench.records.stat_value import StoredStatValue
from nematodebench.stats import StatValue


class Holder(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    score: StoredStatValue


STORED = '{"score":{"mean":0.5,"std":0.1,"min":0.4,"max":0.6,"n":2,"ci95":[0.3,0.7],"kind":"t","doubt":"few runs"}}'
ALONE = '{"score":{"mean":0.5,"std":0.0,"min":0.5,"max":0.5,"n":1,"ci95":null,"kind":"t","doubt":""}}'


def test_a_value_comes_back_as_it_was():
    value = StatValue(0.5, 0.1, 0.4, 0.6, 2, (0.3, 0.7), "t", "few runs")
    assert Holder(score=value).model_dump_json() == STORED
    assert Holder.model_validate_json(STORED, strict=True).score == value
    assert Holder.model_validate(Holder(score=value).model_dump()).score == value


def test_a_single_value_has_no_interval():
    value = StatValue.from_values([0.5])
    assert Holder(score=value).model_dump_json() == ALONE
    found = Holder.model_validate_json(ALONE, strict=True).score
    assert not found.has_interval
    assert str(found) == str(value) == "0.500 (n = 1)"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"mean":0.5', '"mean":"0.5"', ("score", "mean")),
        ('"n":2', '"n":0', ("score", "n")),
        ('"std":0.1', '"std":-0.1', ("score", "std")),
        ('"n":2', '"n":2,"more":1', ("score", "more")),
        (',"ci95":[0.3,0.7]', "", ("score", "ci95")),
    ],
)
def test_what_is_wrong_is_named(old, new, place):
    with pytest.raises(ValidationError) as found:
        Holder.model_validate_json(STORED.replace(old, new), strict=True)
    assert found.value.errors()[0]["loc"] == place


def test_a_value_of_an_older_version_does_not_say_how_its_interval_was_computed():
    older = STORED.replace(',"kind":"t","doubt":"few runs"', "")
    found = Holder.model_validate_json(older, strict=True).score
    assert (found.kind, found.doubt) == ("plain", "")
