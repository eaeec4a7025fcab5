"""A re-executed run is compared with its record: episodes, memory where its hash is of today's kind, descriptors."""

from nematodebench.engine.run import RunFailure, RunResult
from nematodebench.records.memory_hash import NO_HASH, OLDER_KIND
from nematodebench.records.schemas import RunRecord
from nematodebench.sessions.rerun import Rerun

EPISODES, MEMORY = "e" * 64, "a" * 64


def outcome(
    recorded_memory: str | None, memory: str | None, episodes: str = EPISODES, failure: RunFailure | None = None
) -> Rerun:
    recorded = RunRecord(run=0, seed=1, status="finished", record_hash=EPISODES, memory_hash=recorded_memory)
    return Rerun(recorded, RunResult(0, 1, record_hash=episodes, memory_hash=memory, failure=failure), True)


def test_same_episodes_and_memory_are_identical() -> None:
    again = outcome(f"v2:{MEMORY}", f"v2:{MEMORY}")
    assert again.identical
    assert again.note == ""


def test_another_memory_of_the_same_kind_is_different() -> None:
    assert not outcome(f"v2:{MEMORY}", f"v2:{'b' * 64}").identical


def test_with_an_older_memory_hash_the_episodes_decide() -> None:
    again = outcome(MEMORY, f"v2:{MEMORY}")
    assert again.identical
    assert again.note == OLDER_KIND
    assert not outcome(MEMORY, f"v2:{MEMORY}", episodes="f" * 64).identical


def test_a_failed_re_execution_is_never_identical() -> None:
    again = outcome(MEMORY, "", failure=RunFailure("it broke"))
    assert not again.identical
    assert again.note == ""


def test_what_a_brain_tells_of_itself_is_compared_too() -> None:
    told = {"active_share": 0.25, "entropy": 0.5, "came_later": 1.0}

    def again(**claimed: float) -> Rerun:
        recorded = RunRecord(run=0, seed=1, status="finished", record_hash=EPISODES, descriptors=claimed)
        return Rerun(recorded, RunResult(0, 1, record_hash=EPISODES, descriptors=told), True)

    assert again(active_share=0.25, entropy=0.5).identical
    assert again(active_share=0.26).difference == "another active_share is told"
    assert again(invented=1.0, entropy=0.0).difference == "another invented, entropy is told"


def test_without_a_memory_hash_nothing_claims_that_the_memory_matched() -> None:
    again = outcome(None, None)
    assert again.identical
    assert again.note == NO_HASH
    assert outcome(f"v3:{MEMORY}", None).difference == "the final memory differs"
