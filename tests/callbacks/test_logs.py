"""The ready callbacks: a CSV file and TensorBoard for real, W&B and MLflow with a small stand-in for each."""

import csv
import sys
from types import ModuleType, SimpleNamespace

import pytest
from told import tables

import nematodebench as nb
from nematodebench.callbacks import CsvLog, MLflowLog, TensorBoardLog, WandbLog
from nematodebench.callbacks.by_name import logs_of
from nematodebench.errors import UsageError

TASK, RUNS, EPISODES, SEED = "foraging_small-v1", 2, 3, 9


def run(*logs, brain="null_random", task=TASK):
    return nb.run(task, brain, runs=RUNS, episodes=EPISODES, seed=SEED, callbacks=logs)


def curves(session, index):
    """What a tracker should know of a run: every column of every phase over its episodes."""
    phases = {phase.name: phase.columns for phase in session.plan.task.phases}
    return {
        f"{phase}/{name}": [row[k] for row in rows]
        for phase, rows in tables(session)[index].items()
        for k, name in enumerate(phases[phase])
    }


def test_csv_has_a_line_for_every_episode(tmp_path):
    path = tmp_path / "episodes.csv"
    session = run(CsvLog(path))
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(session.episodes)
    for run_index, phases in tables(session).items():
        for phase, rows in phases.items():
            mine = [line for line in lines if (line["run"], line["phase"]) == (str(run_index), phase)]
            assert [line["episode"] for line in mine] == [str(n) for n in range(len(rows))]
            assert [float(line["reward"]) for line in mine] == [row[0] for row in rows]
    assert {line["zone"] for line in lines if line["phase"] == "train"} == {""}
    assert {(line["task"], line["brain"], line["session_seed"]) for line in lines} == {(TASK, "null_random", "9")}


def test_csv_takes_several_sessions_of_one_task_and_never_writes_over_a_file(tmp_path):
    path = tmp_path / "episodes.csv"
    log = CsvLog(path)
    run(log)
    run(log, brain="motionless")
    text = path.read_text()
    assert text.count("motionless") == text.count("null_random") > 0
    with pytest.raises(UsageError, match=r"episodes\.csv exists\. Name another file"):
        run(CsvLog(path))
    with pytest.raises(UsageError, match="other columns than"):
        run(log, task="gridworld-v1")
    assert path.read_text() == text
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        run(CsvLog(tmp_path / "nowhere" / "episodes.csv"))


def test_tensorboard_reads_the_curves_back(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    session = run(TensorBoardLog(tmp_path))
    for index in range(RUNS):
        read = accumulator.EventAccumulator(str(tmp_path / TASK / "null_random" / "seed_9" / f"run_{index:03d}"))
        read.Reload()
        wanted = curves(session, index)
        assert set(read.Tags()["scalars"]) == set(wanted)
        for name, values in wanted.items():
            found = read.Scalars(name)
            assert [point.step for point in found] == list(range(len(values)))
            assert [point.value for point in found] == pytest.approx(values, rel=1e-6)
        [text] = read.Tensors("run")
        assert b'"brain": "null_random"' in text.tensor_proto.string_val[0]


class FakeWandbRun:
    def __init__(self, **given):
        self.given, self.logged, self.summary, self.metrics, self.code = given, [], {}, {}, None

    def define_metric(self, name, step_metric):
        self.metrics[name] = step_metric

    def log(self, values):
        assert self.code is None
        self.logged.append(values)

    def finish(self, exit_code):
        self.code = exit_code


def test_wandb_gets_a_run_for_each_run(monkeypatch):
    """With a small stand-in for the library: what it is told, not what it does with it."""
    made, module = [], ModuleType("wandb")
    module.init = lambda **given: made.append(FakeWandbRun(**given)) or made[-1]
    module.Settings = lambda **given: given
    monkeypatch.setitem(sys.modules, "wandb", module)
    session = run(WandbLog("worms"))
    assert {one.given["project"] for one in made} == {"worms"}
    assert {one.given["reinit"] for one in made} == {"create_new"}
    assert len({one.given["group"] for one in made}) == 1
    for one in made:
        wanted = curves(session, one.given["config"]["run"])
        for name, values in wanted.items():
            assert [row[name] for row in one.logged if name in row] == values
        assert one.metrics["train/*"] == "train/episode"
        assert [row["train/episode"] for row in one.logged if "train/episode" in row] == [0, 1, 2]
        assert one.code == 0


class FakeMlflow:
    def __init__(self):
        self.runs, self.metrics, self.params, self.status, self.tags = [], {}, {}, {}, {}

    def get_experiment_by_name(self, name):
        return None

    def create_experiment(self, name):
        return f"number of {name}"

    def create_run(self, experiment_id, run_name):
        assert experiment_id == "number of worms"
        self.runs.append(run_name)
        self.metrics[run_name] = []
        return SimpleNamespace(info=SimpleNamespace(run_id=run_name))

    def log_batch(self, run_id, metrics=(), params=()):
        self.metrics[run_id] += metrics
        self.params.setdefault(run_id, {}).update(params)

    def set_tag(self, run_id, name, value):
        self.tags[run_id] = (name, value)

    def set_terminated(self, run_id, status):
        self.status[run_id] = status


def test_mlflow_gets_a_run_for_each_run_and_all_its_points(monkeypatch):
    """With a small stand-in for the library: what it is told, not what it does with it."""
    client, module = FakeMlflow(), ModuleType("mlflow")
    module.MlflowClient = lambda: client
    module.entities = SimpleNamespace(
        Metric=lambda key, value, timestamp, step: (key, value, step), Param=lambda key, value: (key, value)
    )
    monkeypatch.setitem(sys.modules, "mlflow", module)
    session = run(MLflowLog("worms"), brain="brains_for_tests:RaisesSometimes")
    failed = {result.index for result in session.failed_runs}
    assert 0 < len(failed) < RUNS
    for name in client.runs:
        index = int(client.params[name]["run"])
        assert client.status[name] == ("FAILED" if index in failed else "FINISHED")
        assert (name in client.tags) == (index in failed)
        if index not in failed:
            for curve, values in curves(session, index).items():
                points = [(step, value) for key, value, step in client.metrics[name] if key == curve]
                assert points == list(enumerate(values))


@pytest.mark.parametrize("kind", [TensorBoardLog, WandbLog, MLflowLog])
def test_what_is_not_installed_is_named_with_what_to_install(monkeypatch, kind):
    extra = kind.extra
    for name in [*sys.modules, extra]:
        if name.partition(".")[0] == extra:
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"pip install 'nematodebench\[{extra}\]'"):
        kind("somewhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cvs:x.csv", "there is no log 'cvs'. Did you mean 'csv'?"),
        ("x.csv", "There are csv:PATH, tensorboard:DIR, wandb:PROJECT, mlflow:EXPERIMENT."),
        ("csv:", "say where it goes, csv:PATH."),
    ],
)
def test_a_log_that_does_not_exist_is_named(text, said):
    with pytest.raises(UsageError) as error:
        logs_of([text])
    assert said in str(error.value)
