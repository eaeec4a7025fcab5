"""A Ray cluster of this machine for tests: as a program it starts nodes and ends them when its standard input closes.

That happens however the tests end, killed or not, so nothing is left running and no folder is left behind. Only what
was started here is ended. All ports are free ones and the folder is its own, so that clusters do not meet.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START_SECONDS = 180
RAY = str(Path(sys.executable).with_name("ray"))
OWN = ["--disable-usage-stats", "--min-worker-port=0", "--max-worker-port=0", "--object-store-memory=200000000"]
"""What keeps nodes on one machine from meeting, and small."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def head(address):
    """The command that starts the first node."""
    return ["ray", "start", "--head", f"--port={address.rpartition(':')[2]}", "--num-cpus=1", "--block"]


def further(address):
    """The command that starts another one."""
    return ["ray", "start", f"--address={address}", "--num-cpus=1", "--block"]


@contextlib.contextmanager
def cluster(commands, address, nodes=None):
    """Starts nodes by their commands, waits until there are as many as given (else: as commands), and ends them.

    A head node asks for a token if an earlier local cluster left one in this home, and a driver that is given an
    address never sends it by itself: so the nodes are told to ask for none. Workers are as important as other programs,
    because Ray's own niceness of 15 starves them on a busy machine.
    """
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_ADDRESS": "", "RAY_worker_niceness": "0"}
    keeper = subprocess.Popen(
        [sys.executable, __file__, json.dumps(commands)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment, text=True,
    )  # fmt: skip
    try:
        folder = keeper.stdout.readline().strip()
        _wait_for(address, nodes or len(commands), Path(folder))
        yield
    finally:
        keeper.stdin.close()
        keeper.wait()


def _wait_for(address, nodes, folder):
    import ray

    ended = time.monotonic() + START_SECONDS
    while time.monotonic() < ended:
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            if sum(found["Alive"] for found in ray.nodes()) == nodes:
                return
        except (ConnectionError, RuntimeError):
            pass
        finally:
            ray.shutdown()
        time.sleep(1)
    raise AssertionError(f"the cluster did not start:\n{_logs(folder)}")


def _logs(folder):
    return "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(folder.glob("*.out")))


def _keep(commands):
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    sys.stdout.write(f"{folder}\n")
    sys.stdout.flush()
    nodes = []
    try:
        for number, command in enumerate(commands):
            own = [*OWN, f"--dashboard-agent-listen-port={free_port()}"]
            if "--head" in command:
                own += [f"--temp-dir={folder}", "--include-dashboard=false", f"--ray-client-server-port={free_port()}"]
            with (folder / f"node{number}.out").open("w") as output:
                whole = [RAY, *command[1:], *own]
                nodes.append(subprocess.Popen(whole, stdout=output, stderr=output, start_new_session=True))
            time.sleep(1)
        sys.stdin.read()
    finally:
        for one in reversed(nodes):
            one.terminate()
        for one in nodes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(timeout=30)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # they come to the whole group; the end of the input says when
    _keep(json.loads(sys.argv[1]))
