"""Whatever happens to the files that commands keep for later: one line that names it, or what it held; no traceback."""

import base64
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_damaged_files import mutated

import nematodebench as nb
from nematodebench.calibration.recipes import read_recipe, recipe_cycle
from nematodebench.continual import lines as continual_lines
from nematodebench.continual.runs import Settings
from nematodebench.errors import UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.kernels.code_cache import KernelCache
from nematodebench.kernels.jit import kernel
from nematodebench.sessions.checked import load_checked
from nematodebench.sessions.sweep import SweepStore, make_cells
from nematodebench.submissions.store import load_submission, submission_files
from nematodebench.tasks.registry import get_task
from nematodebench.trajectories.files import read_episodes
from nematodebench.verification.keys import load_keys
from nematodebench.verification.store import open_record

ROOT = Path(__file__).resolve().parents[2]


def refusing(read):
    """Something else than None where a reader refuses by giving nothing."""

    def again():
        found = read()
        if found is None:
            raise UsageError("nothing is believed")
        return found

    return again


def _published(folder):
    """A published entry with its signed record and all keys."""
    name = sorted((ROOT / "verifications").glob("*.dsse.json"))[0].name
    payload = json.loads(base64.b64decode(json.loads((ROOT / "verifications" / name).read_text())["payload"]))
    own = payload["subject"][0]["name"]
    (folder / own).parent.mkdir(parents=True)
    shutil.copy(ROOT / own, folder / own)
    shutil.copytree(ROOT / "keys", folder / "keys")
    (folder / "verifications").mkdir()
    shutil.copy(ROOT / "verifications" / name, folder / "verifications" / name)
    return folder / own, folder / "verifications" / name


def _stated(folder, name):
    return open_record(folder, name)[0].model_dump_json()


def submission(folder):
    """The signed record holds the hash of its bytes."""
    own, record = _published(folder)
    return own, lambda: _stated(folder, record.name), _stated(folder, record.name)


def submission_alone(folder):
    """Without a record the words of a contributor may be other words, and the file has to be a submission."""
    path = folder / "claim.json"
    shutil.copy(next(iter(submission_files(ROOT))), path)
    return path, lambda: load_submission(path) and None, None


def verification(folder):
    _, record = _published(folder)
    return record, lambda: _stated(folder, record.name), _stated(folder, record.name)


def key(folder):
    """Which keys are believed; a file that is none is left out."""
    _published(folder)
    path = sorted((folder / "keys").iterdir())[0]
    wanted = set(load_keys(folder).files)

    def read():
        found = set(load_keys(folder).files)
        if found < wanted:
            raise UsageError("a key is not believed")
        return found

    return path, read, wanted


def episodes(folder):
    place = nb.run("foraging_small-v1", "gradient_follower", runs=2, episodes=3, seed=3, workers=1).save(folder)
    return (
        place / "episodes.parquet",
        lambda: load_checked(place).model_dump_json(),
        load_checked(place).model_dump_json(),
    )


def packed_episodes(folder):
    source = sorted((ROOT / "artifacts" / "experiments").iterdir())[0]
    place = Path(shutil.copytree(source, folder / source.name))
    return place / "episodes.xz", lambda: load_checked(place).model_dump_json(), load_checked(place).model_dump_json()


def _sweep(folder):
    store, (cell,) = SweepStore(folder), make_cells(["foraging_small-v1"], ["null_random"], {}, 2, 3, 1)
    store.begin(3)
    store.write(cell, nb.run("foraging_small-v1", "null_random", runs=2, seed=3, workers=1))
    store.combine([cell])
    return store, cell


def sweep_seed(folder):
    store, _ = _sweep(folder)
    return folder / "sweep.json", store.seed, 3


def sweep_cell(folder):
    """A damaged cell is run again, like one that is missing."""
    store, cell = _sweep(folder)
    path = next((folder / "cells").glob("*.parquet"))

    def read():
        if not store.is_finished(cell):
            raise UsageError("it is run again")
        return store.read(cell)["score"].to_list()

    return path, read, store.read(cell)["score"].to_list()


def search_journal(folder):
    """A damaged journal is refused, or what it lost is searched again, to the same trials."""
    from nematodebench.search.storage import opened_storage

    (folder / "search").mkdir()
    path = folder / "search" / "journal.log"
    with opened_storage(str(path)) as (storage, _):
        import optuna

        study = optuna.create_study(storage=storage, study_name="s", direction="maximize")
        for value in (1.5, 2.5):
            trial = study.ask()
            trial.suggest_float("x", 0.0, 1.0)
            study.tell(trial, value)

    def read():
        with opened_storage(str(path)) as (storage, _):
            names = optuna.get_all_study_names(storage)
            if not names:
                raise UsageError("it is searched anew")
            return [one.value for one in optuna.load_study(study_name=names[0], storage=storage).trials]

    whole = read()
    first = whole[:1]

    def known():
        found = read()
        return whole if found in (whole, first, []) else found  # what is missing is searched again

    return path, known, whole


def search_result(folder):
    path = folder / "result.json"
    path.write_text(json.dumps({"verdict": "no improvement", "champion": {"gamma": 0.5}, "history": [], "trials": {}}))
    return path, lambda: open_sources([folder]) and None, None


def continual_numbers(folder):
    path = folder / "numbers.json"
    path.write_text(
        json.dumps({"environments": ["navigation"], "profiles": {"calibrated": {"primary": 0.5}}, "runs": 3})
    )
    return path, lambda: open_sources([path]) and None, None


def continual_line(folder):
    path = folder / "lines.json"
    path.write_bytes(continual_lines.lines_path("continual-v1").read_bytes())

    def read():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(continual_lines, "lines_path", lambda task_id: path)
            return continual_lines.load_lines(Settings()) and None

    return path, read, None


def recipe(folder):
    path = folder / "mine.yml"
    path.write_text("name: lawn-mower\nsegments:\n  - [18, forward]\n  - [1, right]\n  - [1, forward]\n  - [2, left]\n")
    task = get_task("foraging_small-v1")
    return path, lambda: recipe_cycle(read_recipe(path), task) and None, None


def trajectories(folder):
    from nematodebench.cli.rerun import rerun_command

    place = nb.run("foraging_small-v1", "gradient_follower", runs=1, episodes=2, seed=3, workers=1).save(folder)
    rerun_command(place, 0, False, folder / "kept", None, json=True)

    def read():
        return [one["reward"].tobytes() for one in read_episodes(folder / "kept", "train")]

    return folder / "kept" / "train.npz", read, read()


def doubled(values):
    for n in range(values.size):
        values[n] *= 2.0


def compiled_code(folder):
    """Machine code is loaded only with its hash; anything else is compiled again."""
    place = folder / "kept", folder / "shipped"
    dispatcher = kernel(cached=True)(doubled)
    dispatcher._cache = cache = KernelCache(doubled, lambda: place)
    dispatcher(np.ones(3))
    (path,) = place[0].iterdir()
    (signature,) = dispatcher.signatures
    target = dispatcher.targetctx
    return path, refusing(lambda: cache.load_overload(signature, target) and "code"), "code"


KINDS = {
    submission: 300, submission_alone: 600, verification: 300, key: 600, episodes: 300, packed_episodes: 100,
    sweep_seed: 1000, sweep_cell: 300, search_journal: 150, search_result: 600, continual_numbers: 600,
    continual_line: 600, recipe: 600, trajectories: 600, compiled_code: 400,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_mutations_are_refused_in_one_line_or_change_nothing(kind, tmp_path, capsys):
    path, read, wanted = kind(tmp_path)
    whole, rng, refused = path.read_bytes(), random.Random(kind.__name__), 0
    for _ in range(KINDS[kind]):
        content = mutated(whole, rng)
        path.write_bytes(content)
        try:
            found = read()
        except UsageError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert found == wanted, content
    assert refused > 0
