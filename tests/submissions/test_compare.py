"""What is claimed must be what is computed; what is computed today and was never claimed is no difference."""

from dataclasses import replace

from nematodebench.records.submission_schema import AggregateMetrics
from nematodebench.stats import StatValue
from nematodebench.submissions.compare import differences

STAT = StatValue.from_values([1.0])
NAMED = dict.fromkeys(["success_rate", "composite_score", "distance_efficiency", "learning_speed", "stability"])


def found(claimed: object, computed: object) -> list[str]:
    return list(differences(claimed, computed, "x"))


def test_claims_that_agree_are_no_difference() -> None:
    assert found({"a": 1.0, "b": [1, 2], "c": None}, {"a": 1.0 + 1e-14, "b": [1, 2], "c": None}) == []


def test_a_new_metric_was_not_claimed() -> None:
    assert found({"a": 1.0}, {"a": 1.0, "b": 2.0}) == []
    assert found({"a": {"mean": 1.0}}, {"a": {"mean": 1.0, "median": 1.0}}) == []


def test_a_mark_that_nobody_looked_for_then_is_no_difference() -> None:
    assert found({"doubt": ""}, {"doubt": "long tail"}) == []
    assert found({"doubt": ""}, {"doubt": "small group"}) == ["x.doubt is '', but the data give 'small group'"]
    assert found({"doubt": "long tail"}, {"doubt": ""}) == ["x.doubt is 'long tail', but the data give ''"]


def test_a_claim_without_data_is_a_difference() -> None:
    assert found({"a": 1.0, "b": 2.0}, {"a": 1.0}) == ["x.b is claimed, but there is no such thing"]


def test_a_wrong_claim_is_a_difference() -> None:
    assert found({"a": 1.0}, {"a": 1.1}) == ["x.a is 1.0, but the data give 1.1"]
    assert found({"a": None}, {"a": 1.1}) == ["x.a is None, but the data give 1.1"]
    assert found([1, 2], [1]) == ["x is [1, 2], but the data give [1]"]


def test_records_are_compared_by_the_fields_that_were_written() -> None:
    claimed = AggregateMetrics.model_validate_json(AggregateMetrics(**NAMED, other={"reward": STAT}).model_dump_json())
    assert found(claimed, AggregateMetrics(**NAMED, other={"reward": STAT, "speed": STAT})) == []
    better = replace(STAT, mean=0.5)
    assert found(claimed, AggregateMetrics(**NAMED, other={"reward": better})) == [
        "x.other.reward.mean is 1.0, but the data give 0.5"
    ]
