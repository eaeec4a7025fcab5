"""Brains that try what a brain must not be able to do. Each is run in the sandbox by the tests beside it."""

import contextlib
import ctypes
import fcntl
import gc
import os
import resource
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path


class Honest:
    """Draws actions from its own seed and counts its steps."""

    def __init__(self, observation_space, action_space, config, seed):
        import numpy as np

        self.generator, self.actions, self.steps, self.episodes = np.random.default_rng(seed), action_space.n, 0, 0

    def begin_episode(self):
        self.episodes += 1

    def act(self, observation):
        return int(self.generator.integers(self.actions))

    def learn(self, transition):
        self.steps += 1
        assert transition.observation.shape == transition.next_observation.shape

    def memory(self):
        return f"{self.steps} {self.episodes}".encode()


class TellsNothing(Honest):
    """Has no ``memory``: it is taken from its attributes."""

    memory = None

    def learn(self, transition):
        super().learn(transition)
        self.last = transition


class CannotTell(TellsNothing):
    """Holds something that is no data."""

    def begin_episode(self):
        super().begin_episode()
        self.open = iter([1])


class ReadsTheStack(Honest):
    """Looks for the world, the records or the scorer in the frames and objects of its process."""

    def begin_episode(self):
        frame, names = sys._getframe(), set()
        while frame is not None:
            names |= set(frame.f_locals)
            frame = frame.f_back
        found = names & {"world", "records", "state", "params", "spec", "task", "phase", "out"}
        objects = [type(one).__name__ for one in gc.get_objects() if type(one).__name__ in {"RunSpec", "Agents"}]
        if found or objects:
            raise RuntimeError(f"found {found} {objects}")
        super().begin_episode()


class PatchesTheScorer(Honest):
    """Replaces the scorer's functions in its own process."""

    def __init__(self, *given):
        super().__init__(*given)
        from nematodebench import scoring

        scoring.score_session = lambda *_: 1.0


class WritesFiles(Honest):
    """Writes wherever it can, and counts where it succeeded outside its own temporary folder."""

    def __init__(self, *given):
        super().__init__(*given)
        self.written = []
        home = Path(__file__).resolve().parent
        for folder in ("/", "/usr", "/etc", "/dev", "/dev/shm", str(home), sys.prefix, str(Path.cwd().parent)):
            if folder.startswith("/tmp"):  # the sandbox has its own, where a clone below it has but empty folders
                continue
            with contextlib.suppress(OSError):
                Path(folder, "mark").write_text("here")
                self.written.append(folder)
        if self.written:
            raise RuntimeError(f"wrote to {self.written}")


class KeepsState(Honest):
    """Leaves something for the next run and looks whether the last one did."""

    def __init__(self, *given):
        super().__init__(*given)
        mark = Path("/tmp/mark")
        if mark.exists() or getattr(Honest, "seen", False):
            raise RuntimeError("an earlier run has been here")
        mark.write_text("here")
        Honest.seen = True


class OpensSockets(Honest):
    """Tries to reach anything."""

    def act(self, observation):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", 22), 0.2)
            raise RuntimeError("a socket was opened")
        return super().act(observation)


class StartsProcesses(Honest):
    """Starts a program."""

    def __init__(self, *given):
        super().__init__(*given)
        with contextlib.suppress(OSError):
            subprocess.run(["/bin/true"], check=False)
            raise RuntimeError("a process was started")


class ForksForever(Honest):
    """A fork bomb."""

    def act(self, observation):
        while True:
            os.fork()


class EatsMemory(Honest):
    """Asks for more and more."""

    def act(self, observation):
        self.hoard = [bytearray(1 << 28) for _ in range(1000)]
        return 0


class HoardsSegments(Honest):
    """Fills segments of shared memory, which stay when it lets go of them, so that no limit of its own counts them."""

    def act(self, observation):
        library = ctypes.CDLL(None, use_errno=True)
        library.shmat.restype = ctypes.c_void_p
        library.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
        library.shmdt.argtypes = [ctypes.c_void_p]
        for _ in range(4):
            segment = library.shmget(0, 1 << 29, 0o1600)
            if segment < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            place = library.shmat(segment, None, 0)
            ctypes.memset(place, 1, 1 << 12)
            library.shmdt(place)
        raise RuntimeError("2 GiB that nobody counts")


class HoardsFiles(Honest):
    """Fills files that exist in memory alone."""

    def act(self, observation):
        for _ in range(4):
            os.write(os.memfd_create("hoard"), b"x" * (1 << 20))
        raise RuntimeError("memory that nobody counts")


class FillsTheDisk(Honest):
    """Writes one endless file."""

    def act(self, observation):
        with Path("/tmp/large").open("wb") as stream:
            while True:
                stream.write(b"x" * (1 << 20))


class NeverAnswers(Honest):
    """Sleeps."""

    def act(self, observation):
        time.sleep(3600)


class Exits(Honest):
    """Leaves without a word."""

    def act(self, observation):
        os._exit(7)


class KillsItsParent(Honest):
    """Sends signals to everybody it can see."""

    def act(self, observation):
        for number in range(1, 200):
            if number != os.getpid():
                with contextlib.suppress(OSError):
                    os.kill(number, 9)
        return super().act(observation)


class KnowsTheSeed(Honest):
    """Looks for the run's seed in everything it was told."""

    def __init__(self, observation_space, action_space, config, seed):
        super().__init__(observation_space, action_space, config, seed)
        line = Path("/proc/self/cmdline")
        told = " ".join([*sys.argv, *os.environ.values(), line.read_text() if line.exists() else ""])
        if seed == config["run_seed"] or str(config["run_seed"]) in told.replace(str(seed), ""):
            raise RuntimeError("the run's seed was told")


class WritesTheMailbox(Honest):
    """Overwrites all of the shared memory it can find with garbage."""

    def act(self, observation):
        import numpy as np

        for one in gc.get_objects():
            if type(one).__name__ == "Shared":
                one.feedback[:] = 1e9
                one.values[:] = np.nan
        return super().act(observation)


class RaisesOddly(Honest):
    """Raises something with control characters in its message."""

    def act(self, observation):
        raise SystemExit("\x1b[2Jgone\n::error::forged")


class LeavesMarks(Honest):
    """Tries whatever another run of it could see: marks on files that both can read, and what is kept of them."""

    def __init__(self, *given):
        super().__init__(*given)
        library, self.passed = ctypes.CDLL(None, use_errno=True), []
        file = os.open(__file__, os.O_RDONLY)
        page = ctypes.create_string_buffer(4096)
        others = [one.name for one in Path("/proc").glob("[0-9]*") if one.name != str(os.getpid())]
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0)
        attempts = {
            "flock": lambda: fcntl.flock(file, fcntl.LOCK_SH),
            "lockf": lambda: fcntl.lockf(file, fcntl.LOCK_SH),
            "setlk": lambda: fcntl.fcntl(file, fcntl.F_SETLK, lock),
            "ofd_setlk": lambda: fcntl.fcntl(file, 37, lock),
            "lease": lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
            "notify": lambda: fcntl.fcntl(file, fcntl.F_NOTIFY, 1),
            "advise": lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
            "only what is in memory": lambda: os.preadv(file, [bytearray(8)], 0, os.RWF_NOWAIT),
            "time of use": lambda: os.utime(__file__),
            "extended attribute": lambda: os.setxattr(__file__, "user.mark", b"here"),
            "mode": lambda: Path(__file__).chmod(0o600),
            "link": lambda: os.link(__file__, "/tmp/link"),
            "another process": lambda: Path(f"/proc/{others[0]}" if others else "/nobody").stat(),
            "another's limit": lambda: resource.prlimit(os.getpid() + 1, resource.RLIMIT_NOFILE, (5, 5)),
            "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)),
            "the name of the machine": lambda: socket.sethostname("mark"),
            "its own name space": lambda: os.open("/proc/self/ns/mnt", os.O_RDONLY) and self._call(library, 308, 3, 0),
            "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
            "a device": lambda: os.mknod("/tmp/device", 0o060600, os.makedev(8, 0)),
            "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        }
        for name, number in {
            "inotify": 253,
            "inotify1": 294,
            "fanotify": 300,
            "readahead": 187,
            "cachestat": 451,
        }.items():
            attempts[name] = lambda number=number: self._call(library, number, 0, 0, 0)
        address = ctypes.addressof(page) & ~4095
        attempts["mincore"] = lambda: self._call(library, 27, address, 4096, ctypes.addressof(page))
        for name, attempt in attempts.items():
            with contextlib.suppress(OSError, ValueError):
                attempt()
                self.passed.append(name)
        if self.passed:
            raise RuntimeError(f"these passed: {self.passed}")

    @staticmethod
    def _call(library, number, *given):
        if library.syscall(number, *(ctypes.c_long(one) for one in given)) < 0:
            raise OSError(ctypes.get_errno(), "refused")
