"""Submissions whose episodes, numbers, times or origin are forged."""

from pathlib import Path

import polars as pl
import pytest
from forgery_workshop import Forgeries, Spoil, assert_rejected, claim
from submission_workshop import FORAGING, Work

FORGERIES = Forgeries()
forgery, named = FORGERIES.register, FORGERIES.named


# Episodes.
def _edited(frame: pl.DataFrame, column: str, value: object) -> pl.DataFrame:
    here = (pl.col("run") == 3) & (pl.col("episode") == 9) & (pl.col("phase") == "train")
    return frame.with_columns(
        pl.when(here).then(pl.lit(value, frame.schema[column])).otherwise(pl.col(column)).alias(column)
    )


@forgery("record hashes", "run 3: its episodes do not have the recorded hash")
def _edited_episode(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", 0.4321))


@forgery("episodes", "run 3 episode 9: success does not follow from foods and end", FORAGING)
def _success_without_food(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "foods", 0.0))


@forgery("episodes", "run 3: column 'reward' of phase 'train' holds a value that is not a number")
def _nan_in_episodes(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", float("nan")))


@forgery("episodes", "column 'reward' of phase 'train' has 1 missing values")
def _gap_in_episodes(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", None))


@forgery("episodes", "column 'termination' has unknown values", FORAGING)
def _unknown_termination(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "termination", "won"))


@forgery("episodes", "is not a readable Parquet file")
def _truncated_parquet(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    path.write_bytes(path.read_bytes()[:-2000])
    work.sign(0)


@forgery("episodes", "is not a readable Parquet file")
def _scrambled_parquet(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    content = bytearray(path.read_bytes())
    content[1000:3000] = bytes(2000)
    path.write_bytes(content)
    work.sign(0)


@forgery("episodes", "'satiety' is missing", FORAGING)
def _column_left_out(work: Work) -> None:
    work.save_table(0, work.table(0).drop("satiety"))


@forgery("episodes", "'bonus' is too much")
def _column_too_much(work: Work) -> None:
    work.save_table(0, work.table(0).with_columns(bonus=pl.lit(1.0)))


@forgery("episodes", "'success' is Float64, not Boolean", FORAGING)
def _column_of_another_type(work: Work) -> None:
    work.save_table(0, work.table(0).with_columns(pl.col("success").cast(pl.Float64)))


@forgery("episodes", "rows: pattern_memory_easy-v1 has at most 1,500")
def _rows_too_many(work: Work) -> None:
    frame = work.table(0)
    work.save_table(0, pl.concat([frame, frame]))


@forgery("episodes", "run 3 has 29 episodes in phase 'train', not 30")
def _bad_episode_left_out(work: Work) -> None:
    kept = ~((pl.col("run") == 3) & (pl.col("episode") == 29))
    work.save_table(0, work.table(0).filter(kept))


@forgery("episodes", "are not numbered 0, 1, 2")
def _episodes_in_another_order(work: Work) -> None:
    work.save_table(0, work.table(0).reverse())


@forgery("episodes", "has 49 runs, not runs 0 to 49")
def _run_without_episodes(work: Work) -> None:
    work.save_table(0, work.table(0).filter(pl.col("run") != 20))


# Numbers.
@forgery("session metrics", "run 11: metrics.reward is 1.0, but the data give")
def _edited_run_metric(work: Work) -> None:
    record = work.record(0)
    record["runs"][11]["metrics"]["reward"] = 1.0
    work.save_record(0, record)


@forgery("session metrics", "metrics.reward.mean is 0.999, but the data give")
def _edited_session_metric(work: Work) -> None:
    record = work.record(0)
    record["metrics"]["reward"]["mean"] = 0.999
    work.save_record(0, record)


@forgery("session metrics", "steps is 1, but the episodes add up to")
def _edited_steps(work: Work) -> None:
    record = work.record(0)
    record["runs"][0]["steps"] = 1
    work.save_record(0, record)


@forgery("session metrics", "level is 'Good'")
def _edited_session_level(work: Work) -> None:
    work.edit_record(0, level="Good")


@forgery("submission metrics", "metrics.other.reward.mean is 0.99, but the data give")
def _edited_metric(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["mean"] = 0.99
    work.save()


@forgery("submission metrics", "metrics.other.reward.ci95[0] is 0.95")
def _narrower_interval(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["ci95"][0] = 0.95
    work.save()


@forgery("submission metrics", "metrics.learning_speed is None, but the data give", FORAGING)
def _metric_hidden(work: Work) -> None:
    work.claims["metrics"]["learning_speed"] = None
    work.save()


@forgery("submission metrics", "metrics.other.charm is claimed, but there is no such thing")
def _metric_invented(work: Work) -> None:
    work.claims["metrics"]["other"]["charm"] = work.claims["metrics"]["other"]["reward"]
    work.save()


named("edited_level", "submission metrics", "level is 'Legendary'", claim(level="Legendary"))
named(
    "chemotaxis_hidden",
    "submission metrics",
    "chemotaxis is None, but the data give",
    claim(chemotaxis=None),
    FORAGING,
)
named("more_sessions_claimed", "counts", "total_sessions is 100, but there are 10", claim(total_sessions=100))
named("more_total_runs_claimed", "counts", "total_runs is 5000, but there are 500", claim(total_runs=5000))


@forgery("submission metrics", "chemotaxis.level is 'None'", FORAGING)
def _edited_chemotaxis(work: Work) -> None:
    work.claims["chemotaxis"]["level"] = "None"
    work.save()


# Time and originality.
@forgery("date", "lies in the future")
def _made_in_the_future(work: Work) -> None:
    work.move(timestamp="29990101_000000")


@forgery("date", "is earlier than the end of a session")
def _backdated(work: Work) -> None:
    work.move(timestamp="20200101_000000")


@forgery("date", "is not a date")
def _no_such_day(work: Work) -> None:
    work.move(timestamp="20269999_999999")


@forgery("independence", "are already in benchmarks/pattern_memory_easy/scripted/")
def _somebody_elses_sessions(work: Work) -> None:
    original = work.path.read_bytes()
    earlier = work.path
    work.claims["contributor"] = "Mallory Copycat"
    work.move(timestamp=str(work.claims["timestamp"])[:9] + "235959" if "235959" not in work.path.name else None)
    earlier.write_bytes(original)


@pytest.mark.parametrize(("spoil", "check", "message", "task"), FORGERIES)
def test_it_is_rejected_by_the_check_meant_for_it(
    tmp_path: Path, spoil: Spoil, check: str, message: str, task: str
) -> None:
    assert_rejected(tmp_path, spoil, check, message, task)
