"""Commands that crash, or fail, at a chosen file operation.

A process imports everything and compiles what is needed once. For each request it forks a child that counts the file
operations of a command (what opens, makes, renames or removes something, and what waits for the disk) and, at the
chosen one, ends at once or raises an error. So hundreds of crashes take seconds.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

OPERATIONS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate"}
CRASHED = 99
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Crashes:
    """The process that forks. ``warm`` are pairs of task and brain that are compiled once."""

    def __init__(self, warm):
        line = [sys.executable, str(Path(__file__)), json.dumps(warm)]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, folder, words, at=0, error=0, inside=""):
        """What came of a command in ``folder/work``: its code, how many operations there were, what it printed."""
        folder.mkdir(parents=True, exist_ok=True)
        request = {"folder": str(folder), "words": words, "at": at, "error": error, "inside": inside}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        assert told, "the process that forks has ended"
        return Done(**json.loads(told))

    def close(self):
        self._process.stdin.close()
        self._process.wait()


class Done:
    """What came of a command."""

    def __init__(self, code, operations, out, errors):
        self.code, self.operations, self.out, self.errors = code, operations, out, errors


def _count_operations(folder, at, error):
    """Counts the operations below a folder; at the chosen one the process ends, or the operation fails."""
    count, own = 0, str(folder) + os.sep
    marks = os.open(folder / "operations", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def operation():
        nonlocal count
        count += 1
        os.pwrite(marks, str(count).encode(), 0)
        if count == at:
            if not error:
                os._exit(CRASHED)
            raise OSError(error, os.strerror(error))

    def look(event, given):
        if event == "open":
            path, _, flags = given
            if not flags & WRITING or isinstance(path, int):
                return
        elif event in OPERATIONS:
            path = given[0] if event != "os.symlink" else given[1]
        else:
            return
        path = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        if os.path.normpath(Path.cwd() / path).startswith(own):
            operation()

    def fsync(descriptor):
        operation()  # the disk itself need not be waited for

    os.fsync = fsync
    sys.addaudithook(look)


def _child(request):
    from nematodebench.cli import main

    work = Path(request["folder"]).absolute() / "work"
    work.mkdir(exist_ok=True)
    os.chdir(work / request["inside"])
    os.environ["MINARI_DATASETS_PATH"] = str(work / "minari")
    for stream, name in ((1, "out"), (2, "errors")):
        os.dup2(os.open(work.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    sys.argv = ["nematodebench", *request["words"]]
    code = 0
    try:
        _count_operations(work.parent, request["at"], request["error"])
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 98
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _make_small():
    """Two sessions of two runs make a submission, challenges are known, and anchors lie in the folder if it has any."""
    from nematodebench.submissions import data_checks
    from nematodebench.tasks import anchoring
    from nematodebench.verification import challenge

    data_checks.MIN_SESSIONS = data_checks.MIN_RUNS_PER_SESSION = 2
    challenge.draw = lambda: "ab" * 32
    original = anchoring.anchor_path

    def anchor_path(task_id):
        own = Path.cwd() / "anchors"
        return own / f"{task_id}.json" if own.is_dir() else original(task_id)

    anchoring.anchor_path = anchor_path


def _serve(warm):
    # Imported, not used: threads of libraries would not survive a fork, and every import would be paid for again.
    for library in ("polars", "altair", "optuna", "matplotlib.figure", "matplotlib.backends.backend_agg", "minari"):
        importlib.import_module(library)

    import nematodebench.cli
    from nematodebench.brains.registry import get_brain
    from nematodebench.engine.run import compile_for
    from nematodebench.records.commits import package_commit
    from nematodebench.records.provenance import source_hash
    from nematodebench.tasks.registry import get_task

    nematodebench.cli.build()
    source_hash()
    package_commit()
    _make_small()
    for task, brain in warm:
        compile_for(get_task(task), get_brain(brain))
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if not pid:
            _child(request)
        _, status = os.waitpid(pid, 0)
        folder = Path(request["folder"])
        texts = {name: (folder / name).read_text() if (folder / name).exists() else "" for name in ("out", "errors")}
        operations = int((folder / "operations").read_text() or 0) if (folder / "operations").exists() else 0
        code = os.waitstatus_to_exitcode(status)
        sys.stdout.write(json.dumps({"code": code, "operations": operations, **texts}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
