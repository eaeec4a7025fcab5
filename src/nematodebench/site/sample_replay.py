"""What a page needs to execute stored runs of a laboratory again: of a session, or of a cell of a sweep."""

from typing import Any

from nematodebench.figures.samples import Sample
from nematodebench.site.marks import marks
from nematodebench.site.replay import Offer, OfferedRun, claimed_offers, replay_of

__all__ = ["sample_replay"]


def sample_replay(sample: Sample, every: int) -> tuple[dict[str, Any], list[Offer]] | None:
    """What templates need, and the runs that are offered; None where no page can execute them.

    Args:
        sample: The runs.
        every: Episodes that a mark stands for.
    """
    record, cell = sample.record, sample.cell
    if cell is not None:  # it keeps no hashes: its runs are shown, and compared with nothing
        runs = [OfferedRun(run.number, run.seed, run.score, "", "") for run in cell.runs]
        offers = [Offer("", cell.session_seed, sample.task.score_key, tuple(runs))]
        key, brain, config = cell.key, cell.brain, cell.config
    elif record is None or record.continued_from is not None:  # a page has no saved brains to begin with
        return None
    else:
        task, episodes = sample.episodes()
        offers = claimed_offers([(record, {run: marks(task, one, every) for run, one in episodes.items()})], "")
        key, brain, config = f"run-{record.experiment_id}", record.brain, record.brain_config
    replay = replay_of(key, sample.task, brain, config, offers)
    return None if replay is None else (replay, offers)
