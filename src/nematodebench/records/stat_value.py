"""How a StatValue is stored: field by field, and without an interval where one value tells nothing about its spread."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from nematodebench.stats import Doubt, IntervalKind, StatValue

__all__ = ["StatRecord", "StoredStatValue", "stat_record"]


class StatRecord(BaseModel):
    """A metric over n values; `ci95` is null where one value tells nothing about its spread."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mean: float
    std: float = Field(ge=0)
    min: float
    max: float
    n: int = Field(ge=1)
    ci95: tuple[float, float] | None
    kind: IntervalKind = Field("plain", description="how the interval was computed; plain: 1.96 std/sqrt(n) at any n")
    doubt: Doubt = Field("", description="why the interval may cover less than 93 %; empty where it does not")


def stat_record(value: StatValue) -> StatRecord:
    """The stored form of a value."""
    ci95 = value.ci95 if value.has_interval else None
    return StatRecord(
        mean=value.mean, std=value.std, min=value.min, max=value.max, n=value.n, ci95=ci95, kind=value.kind,
        doubt=value.doubt,
    )  # fmt: skip


def _stat_value(stored: StatRecord) -> StatValue:
    ci95 = stored.ci95 or (math.nan, math.nan)
    return StatValue(stored.mean, stored.std, stored.min, stored.max, stored.n, ci95, stored.kind, stored.doubt)


class _AsRecord:
    """Tells pydantic to read and write a StatValue in its stored form."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        record = handler.generate_schema(StatRecord)
        read = core_schema.chain_schema([record, core_schema.no_info_plain_validator_function(_stat_value)])
        return core_schema.json_or_python_schema(
            json_schema=read,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(StatValue), read]),
            serialization=core_schema.plain_serializer_function_ser_schema(stat_record, return_schema=record),
        )


StoredStatValue = Annotated[StatValue, _AsRecord]
"""The type of a StatValue in stored results."""
