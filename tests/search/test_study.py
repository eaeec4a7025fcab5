"""The search: samplers, common seeds, pruning, patience, resumption, and a verdict that is not fooled."""

import dataclasses
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import optuna
import pytest
from optuna.samplers import TPESampler
from scipy import stats
from simulated import SPACE, Matters, Nothing

from nematodebench.errors import EditedError, StorageError, UsageError
from nematodebench.search.recent import LOOKED_AT, RecentTPESampler, _Recent
from nematodebench.search.samplers import SeededByTrial
from nematodebench.search.space import Dimension
from nematodebench.search.study import SAMPLERS, SearchPlan, _End, finished_trials, importances, run_search
from nematodebench.search.target import TrialFailedError
from nematodebench.search.verdict import held_out_seeds, judge, search_seeds


def plan(folder, **changes):
    base = SearchPlan("test", SPACE, trials=20, runs=8, held_out=30, seed=1, storage=str(folder / "journal.log"))
    return dataclasses.replace(base, **changes)


def test_search_and_held_out_seeds_are_never_the_same():
    assert not set(search_seeds(5, 10_000)) & set(held_out_seeds(5, 10_000))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_finds_what_matters(tmp_path, sampler):
    result = run_search(Matters(), plan(tmp_path, sampler=sampler, trials=30))
    # A grid ends when all its points were tried: 3 x 3 x 2 of them after the default.
    assert len(finished_trials(result.study)) == (19 if sampler == "grid" else 30)
    assert result.verdict.improved
    assert result.verdict.comparison.probability_of_improvement > 0.7


def test_the_default_is_the_first_trial(tmp_path):
    study = run_search(Nothing(), plan(tmp_path, trials=3)).study
    assert study.trials[0].params == {"rate": 1e-2, "units": 8, "switch": True}


def test_all_trials_have_the_same_seeds_and_the_verdict_others(tmp_path):
    used = []

    class Recorder(Nothing):
        def run(self, config, seeds):
            used.append(list(seeds))
            return super().run(config, seeds)

    run_search(Recorder(), plan(tmp_path, trials=4, batches=1))
    assert used[:4] == [search_seeds(1, 8)] * 4
    assert used[4:] == [held_out_seeds(1, 30)] * 2


def test_the_same_search_again_finds_the_same(tmp_path):
    first, second = (run_search(Matters(), plan(tmp_path / name)) for name in "ab")
    assert [t.params for t in first.study.trials] == [t.params for t in second.study.trials]
    assert first.verdict == second.verdict


def test_bad_trials_are_pruned_after_a_batch_and_good_ones_are_not(tmp_path):
    study = run_search(Matters(), plan(tmp_path, trials=40)).study
    pruned = [t for t in study.trials if t.state.name == "PRUNED"]
    assert pruned
    assert all(len(t.intermediate_values) < 4 for t in pruned)
    assert study.best_trial.state.name == "COMPLETE"


def test_nothing_is_pruned_if_not_wanted(tmp_path):
    study = run_search(Matters(), plan(tmp_path, trials=25, prune=False)).study
    assert {t.state.name for t in study.trials} == {"COMPLETE"}


def test_patience(tmp_path):
    study = run_search(Nothing(), plan(tmp_path, trials=200, patience=7, prune=False)).study
    assert len(study.trials) == study.best_trial.number + 1 + 7


def test_patience_looks_at_every_trial_once(tmp_path):
    looked = []

    class Trial:
        def __init__(self, number):
            self.number, self.state = number, optuna.trial.TrialState.COMPLETE

        @property
        def value(self):
            looked.append(self.number)
            return -float(self.number)

    trials, stopped = [], []
    study = SimpleNamespace(get_trials=lambda deepcopy: trials, stop=lambda: stopped.append(len(trials)))
    end = _End(plan(tmp_path, trials=100, patience=40))
    for number in range(41):
        assert not stopped
        trials.append(Trial(number))
        end(study, trials[-1])
    assert stopped == [41]
    assert sorted(set(looked)) == list(range(41))
    assert looked.count(7) == 1


def test_trials_of_other_processes_count_when_they_end(tmp_path):
    study = optuna.create_study(direction="maximize")
    other, own = study.ask(), study.ask()
    end = _End(plan(tmp_path, trials=2))
    study.tell(own, 1.0)
    stopped = []
    study.stop = lambda: stopped.append(True)
    end(study, own)
    assert not stopped
    study.tell(other, 2.0)
    end(study, own)
    assert stopped


def test_the_sampler_looks_at_the_latest_and_the_best_trials(tmp_path):
    study = optuna.create_study(direction="maximize")
    space = {"rate": optuna.distributions.FloatDistribution(0.0, 1.0)}
    for k in range(LOOKED_AT + 100):
        value = 5.0 if k == 3 else k / 1e4
        study.add_trial(optuna.trial.create_trial(params={"rate": 0.5}, distributions=space, value=value))
    numbers = [trial.number for trial in _Recent(study)._get_trials(deepcopy=False)]
    assert len(numbers) == LOOKED_AT
    assert numbers == sorted(numbers)
    assert numbers[0] == 3
    assert numbers[-1] == LOOKED_AT + 99
    asked = []
    study.sampler = RecentTPESampler(seed=1)
    study.sampler._get_internal_repr = lambda trials, *rest: (
        asked.append(len(trials)) or TPESampler._get_internal_repr(study.sampler, trials, *rest)
    )
    study.ask(space)
    assert 0 < sum(asked) <= LOOKED_AT


@pytest.mark.parametrize("kind", ["tpe", "cmaes", "nsga2"])
def test_every_trial_is_looked_at_once_for_what_is_chosen_together(kind, monkeypatch):
    space = (Dimension("rate", "float", 0.0, 1.0, False, "high", 0.5),)
    sampler = SeededByTrial(kind, space, 60, 1)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    looked, original = [], optuna.trial.FrozenTrial.distributions
    counted = property(lambda trial: looked.append(trial.number) or original.fget(trial), original.fset)
    distributions = {"rate": optuna.distributions.FloatDistribution(0.0, 1.0)}
    for k in range(60):
        study.add_trial(optuna.trial.create_trial(params={"rate": 0.5}, distributions=distributions, value=float(k)))
        with monkeypatch.context() as patched:
            patched.setattr(optuna.trial.FrozenTrial, "distributions", counted)
            trial = study.trials[-1]
            looked.clear()
            study._thread_local.cached_all_trials = None  # as at the start of every trial
            sampler.before_trial(study, trial)
            assert list(sampler.infer_relative_search_space(study, trial)) == ["rate"]
        assert len(looked) <= 2, "a sampler that is made anew looks at all trials again"


def test_a_short_search_is_sampled_as_by_optuna(tmp_path):
    found = []
    for sampler in (RecentTPESampler(seed=4), TPESampler(seed=4)):
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.optimize(lambda trial: -abs(trial.suggest_float("rate", 0.0, 1.0) - 0.3), n_trials=30)
        found.append([trial.params for trial in study.trials])
    assert found[0] == found[1]


def test_a_failed_trial_has_no_value_and_the_search_goes_on(tmp_path):
    class Fragile(Nothing):
        def run(self, config, seeds):
            if config.get("switch") is False:
                raise TrialFailedError("broken")
            return super().run(config, seeds)

    study = run_search(Fragile(), plan(tmp_path)).study
    states = {t.params["switch"]: t.state.name for t in study.trials}
    assert states[False] == "FAIL"
    assert len(study.trials) == 20


def test_importances_name_what_matters(tmp_path):
    result = run_search(Matters(), plan(tmp_path, sampler="random", trials=60, prune=False))
    found = importances(result.study, SPACE)
    assert max(found, key=found.get) == "rate"


def test_a_finished_search_is_resumed_with_more_trials(tmp_path):
    run_search(Nothing(), plan(tmp_path, trials=5))
    study = run_search(Nothing(), plan(tmp_path, trials=9, resume=True)).study
    assert len(study.trials) == 9
    assert len({t.params["rate"] for t in study.trials}) == 9


def test_an_existing_search_is_not_continued_by_accident(tmp_path):
    run_search(Nothing(), plan(tmp_path, trials=2))
    with pytest.raises(UsageError, match="Continue it with --resume"):
        run_search(Nothing(), plan(tmp_path, trials=4))


def test_a_search_is_not_resumed_with_other_seeds(tmp_path):
    run_search(Nothing(), plan(tmp_path, trials=2))
    with pytest.raises(UsageError, match="begun with another runs"):
        run_search(Nothing(), plan(tmp_path, trials=4, runs=9, resume=True))


_SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
from simulated import Matters
from test_study import plan
from nematodebench.search.study import run_search

class Slow(Matters):
    def run(self, config, seeds):
        time.sleep(0.05)
        return super().run(config, seeds)

run_search(Slow(), plan(Path({folder!r}), trials=40, resume=True))
"""


def start(folder):
    code = _SLOW.format(here=str(Path(__file__).parent), folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", code])


def read(folder):
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(folder / "journal.log")))
    return optuna.load_study(study_name="test", storage=storage)


def test_a_killed_search_loses_nothing_that_ended(tmp_path):
    process = start(tmp_path)
    while not (tmp_path / "journal.log").exists() or (tmp_path / "journal.log").read_text().count('"state":1') < 3:
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {t.number: t.params for t in finished_trials(read(tmp_path))}
    assert 3 <= len(before) < 40
    result = run_search(Matters(), plan(tmp_path, trials=40, resume=True))
    after = {t.number: t.params for t in finished_trials(result.study)}
    assert len(after) == 40
    assert before.items() <= after.items()


@pytest.mark.slow
def test_a_trial_that_an_edit_stops_did_not_fail(tmp_path):
    """The search goes on with it when the file is put back, to what an unbroken one gives."""

    class Edited(Matters):
        def run(self, config, seeds):
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls == 9:
                raise EditedError("mine.py was edited")
            return super().run(config, seeds)

    with pytest.raises(EditedError):
        run_search(Edited(), plan(tmp_path, trials=6))
    again = run_search(Matters(), plan(tmp_path, trials=6, resume=True))
    whole = run_search(Matters(), plan(tmp_path, trials=6, storage=str(tmp_path / "other.log")))
    assert [one.values for one in again.study.trials] == [one.values for one in whole.study.trials]


def test_two_processes_share_a_search(tmp_path):
    run_search(Matters(), plan(tmp_path, trials=1))
    processes = [start(tmp_path), start(tmp_path)]
    assert [process.wait() for process in processes] == [0, 0]
    ended = finished_trials(read(tmp_path))
    assert 40 <= len(ended) <= 42
    assert len({t.number for t in ended}) == len(ended)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampler": "annealing"}, "Sampler 'annealing' does not exist. Choose tpe"),
        ({"trials": 0}, "trials is 0"),
        ({"runs": 0}, "runs is 0"),
        ({"held_out": 1}, "held-out is 1"),
        ({"storage": "oracle9://x"}, "not the URL of a database"),
        ({"storage": "postgresql:/x://"}, "not the URL of a database"),
    ],
)
def test_bad_input(tmp_path, changes, message):
    with pytest.raises(UsageError, match=message):
        run_search(Nothing(), plan(tmp_path, **changes))


def test_a_database_that_does_not_answer():
    with pytest.raises(StorageError, match="Cannot use the postgresql database") as caught:
        run_search(Nothing(), SearchPlan("x", SPACE, storage="postgresql://me:secret@127.0.0.1:1/none"))
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unwritable_journal(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="Cannot write"):
        run_search(Nothing(), plan(tmp_path / "file" / "below"))


def test_verdicts():
    rng, seeds = np.random.default_rng(0), list(range(20))
    noise = rng.normal(size=20)
    assert judge(noise + 1.0, noise, seeds).improved
    assert not judge([1.0, 1.0], [0.0, 0.0], [1, 2]).improved
    assert judge(noise, noise, seeds).words == "no improvement: the default is the champion"
    worse = judge(noise - 1.0, noise, seeds)
    assert not worse.improved
    assert "worse than the default" in worse.words
    assert "includes 0" in judge(rng.normal(size=20), noise, seeds).words


@pytest.mark.parametrize("p", [0.005, 0.03])
def test_an_improvement_needs_a_p_below_one_in_a_hundred(p):
    """Paired differences made to have just this p-value."""
    gaps = np.tile([1.0, -1.0], 10)
    shift = stats.t.isf(p / 2, 19) * gaps.std(ddof=1) / np.sqrt(20)
    verdict = judge(gaps + shift, np.zeros(20), list(range(20)))
    assert verdict.comparison.p_value == pytest.approx(p)
    assert verdict.comparison.ci95[0] > 0.0
    assert verdict.improved == (p < 0.01)
    assert verdict.words.startswith("improvement" if p < 0.01 else "no improvement beyond doubt")


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_space_in_which_nothing_matters_is_called_that(tmp_path, sampler):
    """100 searches: the champion of each looks better on the search seeds, hardly one does on held-out ones."""
    claimed, looked_better = 0, 0
    for seed in range(100):
        changes = {"seed": seed, "sampler": sampler, "prune": False, "storage": str(tmp_path / f"{seed}.log")}
        result = run_search(Nothing(), plan(tmp_path, trials=25, **changes))
        claimed += result.verdict.improved
        looked_better += result.search_value > result.default_value
    assert looked_better >= 90
    assert claimed <= 5
