"""Every command that writes, as a case for crashes: where it begins, how a user goes on, and what has to come out."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

TASK, SHORT = "foraging_small-v1", "pattern_memory_easy-v1"
SMALL = ["--runs", "2", "--seed", "3", "--workers", "1"]
ONE = ["--runs", "1", "--seed", "3", "--workers", "1"]
FEW = ["--episodes", "2"]
WARM = [
    [TASK, "gradient_follower"], [TASK, "null_random"], [TASK, "q_table"], ["navigation-v1", "null_random"],
    ["gridworld-v1", "null_random"], [SHORT, "null_random"],
]  # fmt: skip
"""What is compiled once."""
LEFTOVER = re.compile(
    r"\..+\.[0-9a-f]{8}|\.lock|\.unfinished|session\.json|runs|\.incoming|submit\.json|journal\.log\..+"
)
PROGRESS = re.compile(r"nematodebench: (claimed|fresh) runs: \d+ of \d+.*")
VARIES = {
    "timing", "experiment_id", "p_value", "timestamp", "submission_id", "started", "finished", "keyid", "public_key",
    "worker_id", "datetime_start", "datetime_complete", "sig", "sha256", "crc32",
}  # fmt: skip
"""What differs between two executions: times, what times are in, and keys."""


def _again_with_id(words, work):
    """The command line with which a user goes on after a command of sessions."""
    place = work / "experiments"
    unfinished = [path.name for path in place.glob(".unfinished/*") if not path.name.startswith(".")]
    sessions = [path.parent.name for path in place.glob("[!.]*/session.json")]
    ended = [path.name for path in place.glob("*") if (path / f"{path.name}.json").is_file()]
    if unfinished:
        return [words[0], "--resume", unfinished[0], "--json"]
    if words[0] in {"run", "score"} and (sessions or ended):
        return ["run", "--resume", [*sessions, *ended][0], "--json"]
    return words


@dataclass(frozen=True)
class Case:
    """A command that writes.

    Attributes:
        words: Its line; ``{name}`` stands for what the furniture names.
        furnish: Puts into a folder what the command needs; it is given the process that forks and an empty folder.
        again: What a user does next, given the line and the folder.
        inside: The folder below that the command is started in.
        every: Which of its file operations are tried in the proofs: every one, every second, ...
        next_start: A line that removes what nobody needs, where the command itself cannot be repeated.
    """

    words: list[str]
    furnish: Callable = lambda forks, work: {}
    again: Callable = lambda words, work: words
    inside: str = ""
    every: int = 1
    next_start: tuple[str, ...] = ()


def _session(forks, work):
    """A stored session to report, draw and record."""
    done = forks.run(work.parent, ["run", TASK, "gradient_follower", *SMALL, *FEW, "--track", "--json"])
    assert done.code == 0, done.errors
    folder = next(path for path in (work / "experiments").iterdir() if not path.name.startswith("."))
    folder.rename(work / "stored")
    (work / "stored" / f"{folder.name}.json").rename(work / "stored" / "stored.json")
    shutil.rmtree(work / "experiments")
    return {}


def _git(folder, *words):
    own = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words]
    subprocess.run(own, cwd=folder, check=True, capture_output=True)


def _repository(forks, work, brain="null_random"):
    """A clone with two small sessions; the minima of a submission are lower in the process that forks."""
    (work / "configs").mkdir(parents=True)
    (work / "configs" / "null.yml").write_text(f"task: {SHORT}\nbrain: {brain}\nruns: 2\n")
    (work / ".gitignore").write_text("/experiments/\n/verification_work/\n")
    _git(work, "init", "-q")
    _git(work, "add", "-A")
    _git(work, "commit", "-q", "-m", "start")
    for seed in "12":
        line = ["run", "--config", "configs/null.yml", "--seed", seed, "--workers", "1", "--track", "--json"]
        done = forks.run(work.parent, line)
        assert done.code == 0, done.errors
    return {"sessions": sorted(f"experiments/{path.name}" for path in (work / "experiments").iterdir())}


def _submitted(forks, work):
    """The same, submitted, with a key."""
    told = _repository(forks, work)
    done = forks.run(work.parent, ["submit", "--experiments", *told["sessions"], "--contributor", "A"])
    assert done.code == 0, done.errors
    done = forks.run(work.parent, ["keys", "new", "../private.pem", "--owner", "a maintainer"])
    assert done.code == 0, done.errors
    shutil.rmtree(work / "experiments")
    return {"file": [str(next((work / "benchmarks").glob("*/*/*.json")).relative_to(work))]}


def _verified(forks, work):
    """The same, and the key with which it was signed."""
    told = _submitted(forks, work)
    return {**told, "key": [next((work / "keys").glob("*.json")).stem]}


OWN_BRAIN = """class Own:
    def __init__(self, observation_space, action_space, config, seed):
        pass

    def begin_episode(self):
        pass

    def act(self, observation):
        return 0

    def learn(self, transition):
        pass

    def memory(self):
        return b""
"""


def _own_brain(forks, work):
    """A clone with two small sessions of a brain from outside."""
    work.mkdir(exist_ok=True)
    (work / "own_brain.py").write_text(OWN_BRAIN)
    return _repository(forks, work, "own_brain.py:Own")


def _sessions(forks, work):
    """Two stored sessions to make a private board of."""
    for seed in "12":
        line = ["run", SHORT, "null_random", "--runs", "2", "--seed", seed, "--workers", "1", "--track", "--json"]
        done = forks.run(work.parent, line)
        assert done.code == 0, done.errors
    (work / "experiments").rename(work / "laboratory")
    return {}


def _empty_board(forks, work):
    (work / "benchmarks").mkdir()
    (work / "docs" / "nematodebench").mkdir(parents=True)
    (work / "README.md").write_text("# A\n<!-- leaders:begin -->\n<!-- leaders:end -->\n")
    return {}


def _policy(forks, work):
    (work / "rule.py").write_text("def choose(observation):\n    return 0\n")
    return {}


def _own_anchors(forks, work):
    (work / "anchors").mkdir()
    return {}


def _clone(forks, work):
    (work / "clone").mkdir()
    return {}


RUN_AGAIN = ("run", "--resume", "nothing")
CASES = {
    "run": Case(["run", TASK, "gradient_follower", *SMALL, *FEW, "--checkpoint", "1", "--track", "--json"],
                again=_again_with_id, next_start=RUN_AGAIN),
    "series": Case(["run", TASK, "null_random", "gradient_follower", *ONE, *FEW, "--track", "--json"],
                   again=_again_with_id, next_start=RUN_AGAIN),
    "sweep": Case(["sweep", "--tasks", TASK, "--brains", "null_random", *SMALL, "--json"]),
    "continual": Case(
        ["continual", "null_random", "--order", "navigation,gridworld", "--test-episodes", "0", "--no-alone", *SMALL,
         *FEW, "--output", "numbers.json", "--json"], again=_again_with_id),
    "ablate": Case(["ablate", "q_table", "--task", TASK, "--only", "gamma", *SMALL, *FEW, "--json"],
                   again=_again_with_id),
    "search": Case(
        ["search", "q_table", "--task", TASK, "--importance", "high", "--trials", "3", "--held-out", "2", "--runs", "2",
         "--seed", "3", "--workers", "1", *FEW, "--sampler", "random", "--json"],
        again=lambda words, work: [*words, "--resume"], every=3),
    "score": Case(["score", "rule.py:choose", "--task", TASK, *SMALL, *FEW, "--executor", "threads", "--track",
                   "--json"], _policy, again=_again_with_id, next_start=RUN_AGAIN),
    "submit": Case(["submit", "--experiments", "{sessions}", "--contributor", "A"], _repository, every=2),
    "verify": Case(["verify", "{file}", "--key", "../private.pem", "--workers", "1", "--statement", "said.json"],
                   _submitted, every=4),
    "bundle": Case(["submit", "--experiments", "{sessions}", "--contributor", "A", "--bundle", "own_brain.py"],
                   _own_brain, every=3),
    "revoke": Case(["keys", "revoke", "{key}", "--reason", "lost"], _verified),
    "withdraw": Case(["keys", "withdraw", "{file}", "--key", "../private.pem", "--reason", "wrong"], _verified),
    "keys": Case(["keys", "new", "../private.pem", "--owner", "a maintainer"], _clone, inside="clone"),
    "new": Case(["new", "brain", "worm_of_mine"]),
    "board": Case(["board", "regenerate"], _empty_board),
    "site": Case(["board", "site", "--output", "pages"], _empty_board, every=19),
    "calibrate": Case(["calibrate", SHORT, "--runs", "200", "--workers", "1", "--write"], _own_anchors),
    "plot": Case(["plot", "curves", "stored", "--output", "figures/curve.csv"], _session),
    "report": Case(["report", "stored", "--format", "md", "--output", "pages/report.md"], _session),
    "html": Case(["report", "stored", "--output", "pages/report.html"], _session),
    "picture": Case(["plot", "curves", "stored", "--output", "figures/curve.svg"], _session),
    "laboratory": Case(["board", "site", "--experiments", "laboratory", "--output", "pages"], _sessions, every=7),
    "minari": Case(["rerun", "stored", "--run", "1", "--minari", "ours/test-v0"], _session),
    "record": Case(["rerun", "stored", "--run", "1", "--record", "kept"], _session),
    "watch": Case(["watch", "stored", "--run", "1", "--episode", "1", "--gif", "film.gif"], _session, every=3),
}  # fmt: skip


class Place:
    """A case whose furniture is made once and copied for every crash."""

    def __init__(self, forks, folder, case):
        self._forks, self._furnished, self.case = forks, folder, case
        (folder / "work").mkdir(parents=True)
        self._names = case.furnish(forks, folder / "work")

    @property
    def words(self):
        """The command's line."""
        return [one for word in self.case.words for one in self._names.get(word.strip("{}"), [word])]

    def copied(self, folder):
        """A folder as it is before the command."""
        shutil.copytree(self._furnished, folder, symlinks=True)
        return folder

    def run(self, folder, words=None, at=0, error=0):
        """Runs the command there, or another one."""
        return self._forks.run(folder, words or self.words, at, error, self.case.inside)

    def whole(self, folder):
        """What an unbroken command gives: how many file operations it takes, and what it leaves."""
        done = self.run(self.copied(folder))
        assert done.code == 0, (self.words, done.errors)
        assert not left(folder), left(folder)
        return done.operations, state(folder)

    def repaired(self, folder, wanted):
        """What is wrong after the user has gone on; empty where all is as if nothing had happened."""
        again = self.case.again(self.words, folder / "work" / self.case.inside)
        done = self.run(folder, again)
        if left(folder) and self.case.next_start:  # the next start, whatever it is, removes what nobody needs
            self.run(folder, list(self.case.next_start))
        if state(folder) != wanted:
            missing, extra = wanted - state(folder), state(folder) - wanted
            names = sorted(name for name, _ in missing), sorted(name for name, _ in extra)
            return f"{again}: exit {done.code}, {done.errors[-300:]!r}; missing or other: {names}"
        return f"left behind: {left(folder)}" if left(folder) else ""


def plain(value):
    """Without what differs between two executions."""
    if isinstance(value, dict):
        inner = {key: plain(one) for key, one in value.items() if key not in VARIES}
        if "payload" in inner:
            inner["payload"] = plain(json.loads(base64.b64decode(inner["payload"])))
        return inner
    return [plain(one) for one in value] if isinstance(value, list) else value


def _content(path):
    if path.suffix == ".pem":
        return "private", b""
    if path.suffix in {".json", ".log", ".jsonl"}:
        text = path.read_text()
        parts = [text] if path.suffix == ".json" else text.splitlines()
        return "record", json.dumps([plain(json.loads(one)) for one in parts], sort_keys=True).encode()
    return path.name, path.read_bytes()


def state(folder):
    """Everything in the folder, as far as it is the same in two executions."""
    found = Counter()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.parts and path.parent != folder:
            kind, content = _content(path)
            found[kind, hashlib.sha256(content.replace(str(folder).encode(), b"")).hexdigest()] += 1
    for path in folder.glob("*.pem"):
        found["private", ""] += bool(path.stat().st_size)
    return found


def left(folder):
    """What nobody needs any more."""
    return [path.name for path in folder.joinpath("work").rglob("*") if LEFTOVER.fullmatch(path.name)]


def told_in_one_line(errors, reason):
    """Whether a failed command said what is wrong in one line that names the reason."""
    lines = [line for line in errors.splitlines() if line and not PROGRESS.fullmatch(line)]
    return len(lines) == 1 and reason in lines[0]
