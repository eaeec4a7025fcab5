"""The experiment store: one folder for each session, which can be resumed or is complete at every instant.

``<root>/<id>/`` holds while it runs ``session.json`` (the plan) and ``runs/NNNNN.npz`` (each run that has ended), and
when it is done ``<id>.json``, ``<config>.yml`` and ``episodes.parquet``; a long session has ``runs.parquet`` besides.
The final JSON is written last: where it exists, the session is complete.
"""

import contextlib
import json
import lzma
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.files import LOCK, atomic_write, clean_leftovers, held, new_folder
from nematodebench.records.checkpoint import SUFFIX, Checkpoint, read_checkpoint
from nematodebench.records.episodes import PhaseColumns, frame_columns, read_frame
from nematodebench.records.packed import PACKED, packed_phases
from nematodebench.records.run_files import RunFiles
from nematodebench.records.runs_table import RUNS_FILE, apart, whole
from nematodebench.records.schemas import ContinuedFrom, ExperimentMetadata
from nematodebench.records.versions import up_to_date

__all__ = [
    "CHECKPOINTS", "EXPERIMENTS", "UNFINISHED", "ExperimentStore", "clean_root", "find_record", "load_experiment",
    "resume_line", "stored_columns", "stored_start",
]  # fmt: skip

EXPERIMENTS = Path("experiments")
UNFINISHED = ".unfinished"
"""The folder of commands that have not ended."""

CHECKPOINTS = "checkpoints"
_MOST_BYTES = 400_000_000
_MOST_MEMORY = 256 << 20


def clean_root(root: Path) -> None:
    """Removes what killed processes have left where sessions are stored."""
    for folder in (root, root / UNFINISHED):
        clean_leftovers(folder)
    with contextlib.suppress(OSError):
        (root / UNFINISHED).rmdir()


def resume_line(name: str, root: Path, command: str = "run") -> str:
    """The command that goes on with what was stopped."""
    place = "" if root == EXPERIMENTS else f" --output {shlex.quote(str(root))}"
    return f"nematodebench {command} --resume {name}{place}"


class ExperimentStore:
    """Access to one experiment's folder."""

    def __init__(self, root: Path, experiment_id: str) -> None:
        self.id = experiment_id
        self.folder = root / experiment_id

    @property
    def metadata_path(self) -> Path:
        """The final record."""
        return self.folder / f"{self.id}.json"

    @property
    def plan_path(self) -> Path:
        """What the session is to do."""
        return self.folder / "session.json"

    @property
    def runs(self) -> RunFiles:
        """The runs that have ended."""
        return RunFiles(self.folder / "runs")

    @property
    def complete(self) -> bool:
        """Whether the session has ended."""
        return self.metadata_path.is_file()

    @contextlib.contextmanager
    def begun(
        self, plan: dict[str, Any], config_name: str, config_text: str, start: Checkpoint | None = None
    ) -> Iterator[None]:
        """Begins a session and holds it: its folder appears with all that is needed to go on, or not at all."""
        never = self.runs.folder.is_dir() and not self.complete and not self.plan_path.is_file()
        if never:  # an older version was killed before the session began
            shutil.rmtree(self.folder, ignore_errors=True)

        clean_root(self.folder.parent)

        def fill(place: Path) -> None:
            ExperimentStore(place.parent, place.name).create(plan, config_name, config_text, start)

        with new_folder(self.folder, f"Session {self.id}", fill):
            yield

    def held(self) -> contextlib.AbstractContextManager[None]:
        """Keeps every other process from working on the session."""
        return held(self.folder, f"Session {self.id}")

    @property
    def checkpoints(self) -> Path:
        """Brains that were kept, and the one that runs began with."""
        return self.folder / CHECKPOINTS

    @property
    def start_path(self) -> Path:
        """The saved brain that runs begin with, in a session that continues another."""
        return self.checkpoints / f"start{SUFFIX}"

    def create(self, plan: dict[str, Any], config_name: str, config_text: str, start: Checkpoint | None = None) -> None:
        """Begins a session: the plan is the last thing written, so a folder without one never began."""
        self.runs.folder.mkdir(parents=True, exist_ok=True)
        if start is not None:
            start.write(self.start_path)
        atomic_write(self.folder / config_name, config_text.encode())
        atomic_write(self.plan_path, json.dumps(plan, indent=1).encode())

    def plan(self) -> dict[str, Any]:
        """The plan of an unfinished session."""
        if not self.plan_path.is_file():
            raise UsageError(f"There is no session to resume in {self.folder}.")
        try:
            content = json.loads(self.plan_path.read_text())
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise UsageError(f"{self.plan_path} is damaged: the session cannot go on. Start it anew.")
        return content

    def finish(self, metadata: ExperimentMetadata, episodes: bytes) -> None:
        """Ends the session: writes the table first and the record last, then removes what it needed to resume."""
        atomic_write(self.folder / metadata.episodes_file, episodes)
        metadata, table = apart(metadata)
        if table is not None:
            atomic_write(self.folder / RUNS_FILE, table)
        left_out = {"runs_table"} if table is None else set()
        atomic_write(self.metadata_path, (metadata.model_dump_json(indent=1, exclude=left_out) + "\n").encode())
        self.clean()

    def clean(self) -> None:
        """Removes what only an unfinished session needs."""
        shutil.rmtree(self.runs.folder, ignore_errors=True)
        if self.runs.folder.exists():  # an error of the disk that has passed leaves nothing behind
            shutil.rmtree(self.runs.folder, ignore_errors=True)
        self.plan_path.unlink(missing_ok=True)
        for folder in (self.folder, self.checkpoints, *self.checkpoints.glob("*/")):
            clean_leftovers(folder)
        (self.folder / LOCK).unlink(missing_ok=True)


def stored_start(folder: Path, continued: ContinuedFrom | None) -> Checkpoint | None:
    """The saved brain that the runs of a stored session began with; None where they began with fresh ones."""
    if continued is None:
        return None
    store = ExperimentStore(folder.parent, folder.name)
    if not store.start_path.is_file():
        raise UsageError(
            f"The runs of {folder.name} began with a saved brain, and {store.start_path} is not there: put the file "
            f"back whose SHA-256 is {continued.sha256}."
        )
    saved = read_checkpoint(store.start_path)
    if saved.sha256 != continued.sha256:
        raise UsageError(f"{store.start_path} is another brain than the one that the runs of {folder.name} began with.")
    return saved


def find_record(folder: Path) -> Path | None:
    """The record of a finished session in its folder, plain or compressed; None where there is none."""
    name = folder.resolve().name
    places = (folder / f"{name}.json", folder / f"{name}.json.xz")
    return next((place for place in places if place.is_file()), None)


def _content(file: Path) -> bytes:
    """The text of a record; one that unpacks to more than any session needs is refused."""
    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{file} is not an experiment: it is no file, or has more than {_MOST_BYTES:,} bytes.")
    if file.suffix != ".xz":
        return file.read_bytes()
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    content = reader.decompress(file.read_bytes(), max_length=_MOST_BYTES)
    if not reader.eof:
        raise UsageError(f"{file} is not an experiment: it is cut off, or holds more than {_MOST_BYTES:,} bytes.")
    return content


def _table(file: Path) -> bytes:
    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{file} is missing, or has more than {_MOST_BYTES:,} bytes: it holds the runs.")
    return file.read_bytes()


def _nothing_there(path: Path) -> str:
    """Why there is no session, and what the user may have meant."""
    within = [folder for folder in path.iterdir() if folder.is_dir() and find_record(folder)] if path.is_dir() else []
    if within:
        return f"{path} is a folder of {len(within)} sessions: name those you mean, or all of them as {path}/*."
    if ExperimentStore(path.parent, path.name).plan_path.is_file():
        return f"The session at {path} is not finished: `{resume_line(path.name, path.parent)}` continues it."
    return f"There is no experiment at {path}."


def load_experiment(path: Path) -> ExperimentMetadata:
    """Reads a stored session of any version, given its folder or its file."""
    file = find_record(path) if path.is_dir() else path
    try:
        if file is None or not file.exists():
            raise FileNotFoundError
        content = _content(file)
        parsed = json.loads(content)
        found = ExperimentMetadata.model_validate_json(up_to_date(ExperimentMetadata, content, parsed, str(file)))
        return whole(found, lambda: _table(file.parent / RUNS_FILE))
    except FileNotFoundError as error:
        raise UsageError(_nothing_there(path)) from error
    except OSError as error:
        raise UsageError(f"Cannot read {file}: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{file} is not an experiment: {place or 'content'}: {first['msg']}.") from error
    except RecursionError as error:
        raise UsageError(f"{file} is not an experiment: it is nested too deeply.") from error
    except lzma.LZMAError as error:
        raise UsageError(f"{file} is not an experiment: it is not an xz file.") from error
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(f"{file} is not an experiment: Invalid JSON: {error}.") from error


def stored_columns(path: Path, phases: Sequence[PhaseColumns]) -> Mapping[str, Sequence[str]]:
    """The columns of a session's table, by phase, given its folder or a file in it; empty where there is no table."""
    folder = path if path.is_dir() else path.parent
    if (folder / PACKED).is_file():
        return {phase.name: phase.columns for phase in packed_phases((folder / PACKED).read_bytes())}
    if (folder / "episodes.parquet").is_file():
        return frame_columns(phases, read_frame(folder / "episodes.parquet"))
    return {}
