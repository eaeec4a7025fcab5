"""Judges submissions in a child process with limits: whatever one of them does there, the others are still judged.

The two processes exchange lines of JSON. Nothing that the child writes is unpickled or executed, and its messages are
shown as plain text.
"""

import contextlib
import json
import os
import resource
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.records.plain_text import plain
from nematodebench.submissions.limits import MEMORY, SECONDS

__all__ = ["Judge", "Verdict", "main", "verdict_on"]

_MOST = 1 << 20


@dataclass(frozen=True)
class Verdict:
    """Whether a submission passed its checks, and if not why."""

    passed: bool
    reasons: list[str]


class Judge:
    """A child process that judges one submission after another; it is replaced when one of them ends it."""

    def __init__(self, root: Path, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._root, self._seconds, self._memory = root, seconds, memory
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()

    def _end(self) -> int | None:
        if self._child is None:
            return None
        self._child.kill()
        code = self._child.wait()
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # the child may have gone before it read everything
                    stream.close()
        self._child = None
        return code

    def judge(self, path: Path) -> Verdict:
        """What the checks of a submission say of it alone; a child that dies or takes too long is a rejection."""
        child = self._child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps(str(path)).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            return self._gone("ended before it was asked")
        answer = self._line(child.stdout.fileno())
        if answer is None:
            return self._gone(f"took more than {self._seconds:g} s")
        if not answer:
            return self._gone("ended")
        try:
            content = json.loads(answer)
            passed, reasons = content["passed"] is True, [plain(str(one)) for one in content["reasons"]]
        except (ValueError, KeyError, TypeError):
            return self._gone("answered something that is no verdict")
        return Verdict(passed, reasons)

    def _gone(self, how: str) -> Verdict:
        code = self._end()
        return Verdict(False, [f"the process that judged it {how} (code {code}): it asks for too much memory or time"])

    def _start(self) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-P", "-m", __name__, str(self._root), str(self._memory)]
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
            env={**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )  # fmt: skip

    def _line(self, descriptor: int) -> bytes | None:
        """One line; empty if the child ended, None if it takes too long or says too much."""
        until, content = time.monotonic() + self._seconds, b""
        with selectors.DefaultSelector() as ready:
            ready.register(descriptor, selectors.EVENT_READ)
            while not content.endswith(b"\n"):
                left = until - time.monotonic()
                if left <= 0 or not ready.select(left) or len(content) > _MOST:
                    return None
                part = os.read(descriptor, 1 << 16)
                if not part:
                    return b""
                content += part
        return content


def verdict_on(path: Path, root: Path, *, alone: bool = False) -> Verdict:
    """What the checks say, in this process; anything that goes wrong is a rejection.

    Args:
        path: The submission's file.
        root: Top of the repository.
        alone: Whether to leave out what depends on other submissions.
    """
    from nematodebench.submissions.evaluate import evaluate

    try:
        report = evaluate(path, root=root, alone=alone)
    except UsageError as error:
        return Verdict(False, [plain(str(error))])
    except MemoryError:
        return Verdict(False, ["cannot be judged: it asks for more memory than a submission may use"])
    except (Exception, SystemExit) as error:
        return Verdict(False, [plain(f"cannot be judged: {type(error).__name__}: {error}")])
    return Verdict(report.passed, [plain(f"{check.name}: {check.message}") for check in report.failures])


def main() -> None:
    """The child: judges what it is told on its standard input."""
    root, memory = Path(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        found = verdict_on(Path(json.loads(line)), root, alone=True)
        answers.write(json.dumps({"passed": found.passed, "reasons": found.reasons}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
