"""A search that was killed at any line of its journal goes on to the trials of one that never was."""

import dataclasses
import json

import pytest
from simulated import SPACE, Matters

from nematodebench.errors import UsageError
from nematodebench.search import storage
from nematodebench.search.study import SAMPLERS, SearchPlan, finished_trials, run_search


class Killed(BaseException):
    """Stands for a kill: nothing is written or cleaned up after it."""


def plan(folder, **changes):
    base = SearchPlan("test", SPACE, trials=6, runs=4, batches=2, held_out=4, seed=2**32 - 1, prune=False)
    return dataclasses.replace(base, storage=str(folder / "journal.log"), **changes)


def trials(result):
    return [(one.number, one.params, one.value) for one in finished_trials(result.study)], result.verdict


def killed_at(line, folder, **changes):
    """Runs a search that is killed before it writes a line; whether there was such a line."""
    original, count = storage.Journal.append_logs, 0

    def append_logs(self, logs):
        nonlocal count
        count += 1
        if count == line:
            self.close()  # the system does this for a killed process
            raise Killed
        original(self, logs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage.Journal, "append_logs", append_logs)
        try:
            run_search(Matters(), plan(folder, **changes))
        except (Killed, UnboundLocalError) as end:  # Optuna stumbles over what is no Exception
            return isinstance(end, Killed) or isinstance(end.__context__, Killed)
    return False


@pytest.mark.parametrize("resume", [False, True])
def test_a_search_that_was_killed_while_it_was_made_can_start_and_resume(tmp_path, resume):
    """Its default trial is the first one, and the same trials follow."""
    wanted = trials(run_search(Matters(), plan(tmp_path / "whole")))
    assert wanted[0][0][1] == {one.name: one.default for one in SPACE}
    logs = [json.loads(line) for line in (tmp_path / "whole" / "journal.log").read_text().splitlines()]
    made = 1 + next(k for k, log in enumerate(logs) if log["op_code"] == 4)  # the default is enqueued last
    assert made >= 4
    for line in range(1, made + 1):
        folder = tmp_path / str(line)
        assert killed_at(line, folder)
        assert trials(run_search(Matters(), plan(folder, resume=resume))) == wanted


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_search_that_was_killed_goes_on_to_the_same_trials(tmp_path, sampler):
    """At some lines in the ordinary tests; at all file operations in the proofs of crashes."""
    wanted = trials(run_search(Matters(), plan(tmp_path / "whole", sampler=sampler)))
    for line in (9, 24, 40):
        assert killed_at(line, tmp_path / str(line), sampler=sampler)
        again = run_search(Matters(), plan(tmp_path / str(line), sampler=sampler, resume=True))
        assert trials(again) == wanted
        assert [one.number for one in again.study.trials] == list(range(len(wanted[0])))


def test_a_line_that_was_cut_is_taken_back(tmp_path):
    wanted = trials(run_search(Matters(), plan(tmp_path / "whole")))
    assert killed_at(30, tmp_path)
    with (tmp_path / "journal.log").open("ab") as journal:
        journal.write(b'{"op_code":7,"worker_id":"x","tri')
    assert trials(run_search(Matters(), plan(tmp_path, resume=True))) == wanted


def test_the_lock_of_a_killed_process_is_not_waited_for(tmp_path, monkeypatch):
    assert killed_at(30, tmp_path)
    (tmp_path / "journal.log.lock").symlink_to("journal.log")
    monkeypatch.setattr(storage, "_GRACE", 10_000)
    run_search(Matters(), plan(tmp_path, resume=True))
    assert [path.name for path in tmp_path.iterdir()] == ["journal.log"]


def test_nothing_is_taken_back_while_another_process_works_on_the_search(tmp_path):
    assert killed_at(30, tmp_path)
    before = (tmp_path / "journal.log").read_bytes()
    with storage.opened_storage(str(tmp_path / "journal.log")) as (_, share):
        taken_back = (tmp_path / "journal.log").read_bytes()
        assert before != taken_back
        assert before.startswith(taken_back)
        share()
        (tmp_path / "journal.log").write_bytes(before)
        with storage.opened_storage(str(tmp_path / "journal.log")):
            assert (tmp_path / "journal.log").read_bytes() == before


@pytest.mark.parametrize("why", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_trial_that_was_stopped_has_not_failed(tmp_path, why):
    wanted, count = trials(run_search(Matters(), plan(tmp_path / "whole"))), 0

    class Stopping(Matters):
        def run(self, config, seeds):
            nonlocal count
            count += 1
            if count == 6:
                raise why
            return super().run(config, seeds)

    with pytest.raises(KeyboardInterrupt if why is KeyboardInterrupt else OSError):
        run_search(Stopping(), plan(tmp_path))
    assert trials(run_search(Matters(), plan(tmp_path, resume=True))) == wanted


def test_a_search_that_came_to_its_end_does_not_go_on(tmp_path):
    for sampler, more in (("grid", {"trials": 60}), ("random", {"trials": 60, "patience": 2})):
        wanted = run_search(Matters(), plan(tmp_path / sampler, sampler=sampler, **more))
        assert len(finished_trials(wanted.study)) < 60
        again = run_search(Matters(), plan(tmp_path / sampler, sampler=sampler, resume=True, **more))
        assert trials(again) == trials(wanted)


def test_a_search_that_has_begun_is_still_not_continued_by_accident(tmp_path):
    assert killed_at(12, tmp_path)
    with pytest.raises(UsageError, match="exists there already"):
        run_search(Matters(), plan(tmp_path))
    with pytest.raises(UsageError, match="begun with another seed"):
        run_search(Matters(), dataclasses.replace(plan(tmp_path, resume=True), seed=3))
