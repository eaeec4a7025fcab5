"""Whatever happens to files that lie beside results: one line that names it, or what it held; never a traceback."""

import json
import lzma
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from test_damaged_files import mutated
from test_damaged_states import ROOT, _sweep

import nematodebench as nb
from nematodebench.cli.site import _write
from nematodebench.errors import UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.records.store import load_experiment
from nematodebench.site.server import progress
from nematodebench.submissions import known as findings
from nematodebench.submissions.known import Known
from nematodebench.submissions.publish import _check, recover
from nematodebench.submissions.repository import state_folder
from nematodebench.tasks import listing
from nematodebench.verification.finished import Outcomes, kept_challenge
from nematodebench.verification.keys import new_key, read_private

DIGEST = "ab" * 32


def challenge(folder):
    word = kept_challenge(folder, DIGEST)
    return folder / "challenge.json", lambda: kept_challenge(folder, DIGEST), word


def outcomes(folder):
    """What is lost is executed again; nothing else may be found."""
    path = folder / "claimed.jsonl"
    for k in range(12):
        Outcomes(path).add(k, k % 3 > 0, "" if k % 3 else "the episodes differ")
    whole = Outcomes(path)
    wanted = {k: (whole.found[k], whole.reasons[k]) for k in whole.found}

    def read():
        again = Outcomes(path)
        found = {k: (again.found[k], again.reasons[k]) for k in again.found}
        if found.items() < wanted.items():
            raise UsageError("the others are executed again")
        return found

    return path, read, wanted


def journal(folder):
    """A submission that was stopped is undone, or somebody has to look; the session that it was made of stays."""
    root = folder / "clone"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    path = state_folder(root) / "submit.json"
    original = root / "experiments" / "mine"
    original.mkdir(parents=True)
    (original / "mine.json").write_text("{}")
    content = {"target": "benchmarks/a/b/c.json", "moves": {"mine": str(original)}, "bundle": None}
    whole = json.dumps({**content, "check": _check(content)})
    path.write_text(whole)
    copy = root / "artifacts" / "experiments" / "mine"

    def read():
        copy.mkdir(parents=True, exist_ok=True)
        try:
            recover(root)
            return sorted(path.name for path in root.rglob("mine*"))
        finally:
            assert (original / "mine.json").read_text() == "{}"

    return path, read, ["mine", "mine.json"]


def packed_record(folder):
    source = next(
        path for path in sorted((ROOT / "artifacts" / "experiments").iterdir()) if list(path.glob("*.json.xz"))
    )
    place = Path(shutil.copytree(source, folder / source.name))
    wanted = load_experiment(place).model_dump_json()
    return next(place.glob("*.json.xz")), lambda: load_experiment(place).model_dump_json(), wanted


def packed_text(folder):
    """The text of a record that was packed: whatever it says, it is a record or it is none."""
    path, _, _ = packed_record(folder)
    text = folder / "text.json"
    text.write_bytes(lzma.decompress(path.read_bytes()))

    def read():
        path.write_bytes(lzma.compress(text.read_bytes(), preset=0))
        return load_experiment(path.parent) and None

    return text, read, None


def task_list(folder):
    """A list that was spoilt is made anew."""
    path = folder / "list.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "_path", lambda: path)
        wanted = listing.task_lines()

    def read():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(listing, "_path", lambda: path)
            found = listing._read(path)
        if found is None:
            raise UsageError("it is listed anew")
        return found

    return path, read, wanted


def finding(folder):
    """A database that was spoilt has no findings; nothing else than what was sealed is found."""
    place = folder / "findings"
    place.mkdir(mode=0o700)
    with Known(place) as known:
        for k in range(20):
            known.keep(f"verdict {k}", "basis", str(k))
    wanted = [f"verdict {k}" for k in range(20)]

    def read():
        with Known(place) as known:
            found = [known.find("basis", str(k)) for k in range(20)]
        if None in found and all(one in {None, verdict} for one, verdict in zip(found, wanted, strict=True)):
            raise UsageError("what is missing is found out again")
        return found

    return next(place.glob("*.sqlite")), read, wanted


def secret(folder):
    path, read, wanted = finding(folder)
    return path.parent / findings._SECRET, read, wanted


def pages(folder):
    """The list of a site's pages: no other file of the folder is lost."""
    output = folder / "site"
    _write(output, {"index.html": b"a", "tasks/b.html": b"b"})
    (folder / "mine.txt").write_text("mine")

    def read():
        _write(output, {"index.html": b"a", "tasks/b.html": b"b"})
        return (folder / "mine.txt").read_text(), sorted(path.name for path in output.rglob("*.html"))

    return output / ".nematodebench-site", read, read()


def private_key(folder):
    (folder / "clone" / "keys").mkdir(parents=True)
    path = folder / "private.pem"
    new_key(folder / "clone", "a maintainer", path)
    wanted = read_private(path).private_bytes_raw()

    def read():
        found = read_private(path).private_bytes_raw()
        if found != wanted:  # it has no checksum of its own: it is another key, that nobody trusts
            raise UsageError("its public half is in no list")
        return found

    return path, read, wanted


def sweep_table(folder):
    _sweep(folder)
    path = folder / "sweep.parquet"

    def read():
        (sample,) = open_sources([folder]).samples
        return sample.scores.values.tolist()

    return path, read, read()


def plan_of_a_session(folder):
    """``serve`` shows sessions that go on; it shows one that it cannot read as such."""
    place = nb.run("foraging_small-v1", "null_random", runs=2, episodes=2, seed=3, workers=1).save(folder / "kept")
    plan = place / "session.json"
    plan.write_text(json.dumps({"session": {"runs": 2}}))
    (place / f"{place.name}.json").unlink()

    def read():
        (found,) = progress(folder / "kept")
        if found["state"] == "cannot be read":
            raise UsageError("it is shown so")
        return found["name"]

    return plan, read, place.name


KINDS = {
    challenge: 800, outcomes: 1500, journal: 600, packed_record: 200, packed_text: 40, task_list: 600, finding: 200,
    secret: 40, pages: 300, private_key: 600, sweep_table: 400, plan_of_a_session: 400,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_mutations_are_refused_in_one_line_or_change_nothing(kind, tmp_path):
    path, read, wanted = kind(tmp_path)
    whole, rng = path.read_bytes(), random.Random(kind.__name__)
    for _ in range(KINDS[kind]):
        path.write_bytes(content := mutated(whole, rng))
        try:
            found = read()
        except UsageError as error:
            assert "\n" not in str(error)
        else:
            assert found == wanted, content
