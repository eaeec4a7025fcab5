"""More brains that try what a brain must not be able to do: about its end, the mailbox, and what all runs share."""

import contextlib
import ctypes
import gc
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

from cheats import Honest


def _library():
    return ctypes.CDLL(None, use_errno=True)


def _shared():
    return next(one for one in gc.get_objects() if type(one).__name__ == "Shared")


class OutlivesItsRun(Honest):
    """Asks not to be told when the process that holds its sandbox is gone."""

    def __init__(self, *given):
        super().__init__(*given)
        if _library().prctl(1, 0, 0, 0, 0) == 0:
            raise RuntimeError("it need not die with its run")


class SaysItIsOver(Honest):
    """Tells the host that nobody will answer any more, and stays."""

    def act(self, observation):
        _shared().words[:, 5] = 1
        time.sleep(3600)


class AnswersToNobody(Honest):
    """Gives the turn to a third side, which does not exist."""

    def act(self, observation):
        gives = threading.Timer(0.001, lambda: _shared().words.__setitem__((0, 0), 7))
        gives.start()
        time.sleep(0.01)
        gives.join()  # a busy machine may be late: afterwards it would spoil what the brain says of its memory
        return super().act(observation)


class HighWord(Honest):
    """A turn whose lower half, which is all that a futex looks at, says that nothing has happened."""

    def learn(self, transition):
        _shared().words[0, 0] = (1 << 32) + 1


class WritesAllTheTime(Honest):
    """A thread that overwrites rewards, ends and observations while the world is at work."""

    def __init__(self, *given):
        super().__init__(*given)
        shared = _shared()

        def spoil():
            while True:
                shared.feedback[:] = 1e9
                shared.values[:, :2] = 1e9

        threading.Thread(target=spoil, daemon=True).start()

    def act(self, observation):
        return 0

    def learn(self, transition):
        pass


class LeavesThreads(Honest):
    """Has threads that never end, and exits their process from one of them when its run is long over."""

    def __init__(self, *given):
        super().__init__(*given)
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(3600,)).start()


class CountsOnTheMachine(Honest):
    """Reads what the whole machine counts, which another run could have made to count."""

    def __init__(self, *given):
        super().__init__(*given)
        found = []
        for name in ("loadavg", "stat", "meminfo", "vmstat", "uptime", "locks", "interrupts", "schedstat", "diskstats"):
            with contextlib.suppress(OSError):
                found += [name] if Path("/proc", name).read_bytes() else []
        for name in (
            "fs/file-nr",
            "fs/dentry-state",
            "fs/inode-nr",
            "fs/aio-nr",
            "kernel/pty/nr",
            "kernel/random/uuid",
        ):
            with contextlib.suppress(OSError):
                found.append(Path("/proc/sys", name).read_text())
        with contextlib.suppress(OSError):
            found.append(str(list(Path("/proc/pressure").iterdir())) if any(Path("/proc/pressure").iterdir()) else "")
        found = [one for one in found if one]
        if _library().sysinfo(ctypes.create_string_buffer(256)) == 0:
            found.append("sysinfo")
        if found:
            raise RuntimeError(f"these can be read: {found}")


class AsksTheKernel(Honest):
    """Calls that count for the whole machine, or slow it down."""

    calls: ClassVar = {"io_setup": 206, "sync": 162, "syncfs": 306, "memfd_create": 319, "unshare": 272, "bpf": 321}

    def __init__(self, *given):
        super().__init__(*given)
        page = ctypes.create_string_buffer(64)
        numbers = self.calls.items()
        passed = [name for name, number in numbers if _library().syscall(number, 2, ctypes.addressof(page), 0) >= 0]
        if passed:
            raise RuntimeError(f"these passed: {passed}")


class ReadsItsNumber(Honest):
    """Tells runs apart by the number of its process, which would count them."""

    def __init__(self, *given):
        super().__init__(*given)
        if os.getpid() != 1 or os.getppid() != 0:
            raise RuntimeError(f"it is process {os.getpid()} of {os.getppid()}")


class KeepsInLibraries(Honest):
    """Writes beside the libraries, where the next run would import it."""

    def __init__(self, *given):
        super().__init__(*given)
        import numpy

        places = [Path(numpy.__file__).parent, Path(os.__file__).parent, *map(Path, sys.path)]
        own = Path("/tmp").stat().st_dev  # what is written there ends with the run
        passed = []
        for place in places:
            if place.exists() and place.stat().st_dev == own:
                continue
            for name in ("mark.pth", "sitecustomize.py", "__pycache__/mark.pyc"):
                with contextlib.suppress(OSError):
                    (place / name).write_text("import os")
                    passed.append(str(place / name))
        if passed:
            raise RuntimeError(f"wrote {passed}")


class OtherFloats(Honest):
    """Rounds towards zero and flushes small numbers from now on."""

    def __init__(self, *given):
        super().__init__(*given)
        library = ctypes.CDLL("libm.so.6")
        library.fesetround(0xC00)


class Replaces(Honest):
    """Becomes another program, which knows nothing of the mailbox."""

    def act(self, observation):
        os.execv("/bin/sleep", ["sleep", "3600"])


class Answers(Honest):
    """Returns what its config says in the place of an action."""

    odd: ClassVar = {
        "nan": float("nan"), "infinite": float("inf"), "half": 0.5, "negative": -1, "large": 10**6, "endless": 10**400,
        "zero": 0, "text": "north", "nothing": None, "pair": [0, 0], "complex": 1j, "none": [], "object": object(),
    }  # fmt: skip

    def __init__(self, observation_space, action_space, config, seed):
        super().__init__(observation_space, action_space, config, seed)
        self.answer = self.odd[config["answer"]]

    def act(self, observation):
        return self.answer


class TellsOdd(Honest):
    """Says what its config says in the place of the hash of its memory and of what it tells of its state."""

    def __init__(self, observation_space, action_space, config, seed):
        super().__init__(observation_space, action_space, config, seed)
        kind = type(_shared())
        say = kind.say
        kind.say = lambda shared, _text: say(shared, json.dumps(config["told"]))
