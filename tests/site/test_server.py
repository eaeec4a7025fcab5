"""The server of `serve`, without a browser: whom it answers, and what becomes of those who leave."""

import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest

from nematodebench.errors import UsageError
from nematodebench.records.store import ExperimentStore
from nematodebench.site.server import progress, server_of


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    with server_of(folder, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield folder, server
        server.shutdown()


def status(server, host, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    return connection.getresponse().status


@pytest.mark.parametrize(
    ("host", "answer"),
    [("127.0.0.1", 200), ("localhost", 200), ("localhost:80", 200), ("other.example", 403), ("other.example:80", 403),
     ("", 403)],
)  # fmt: skip
def test_it_answers_to_its_own_names_with_and_without_a_port(served, host, answer):
    """A browser leaves out port 80."""
    assert status(served[1], host) == answer


def test_a_folder_that_is_gone_is_an_answer(served, capfd):
    folder, server = served
    folder.rmdir()
    assert status(server, "localhost") == 404
    assert capfd.readouterr().err == ""


def test_a_plan_that_is_nested_without_end_is_one_that_cannot_be_read(served):
    folder, server = served
    (folder / "x").mkdir()
    (folder / "x" / "session.json").write_text("[" * 100_000)
    assert progress(folder) == [{"name": "x", "what": "", "state": "cannot be read", "done": 0, "runs": 0}]
    assert status(server, "localhost") == 200
    with pytest.raises(UsageError, match="is damaged"):
        ExperimentStore(folder, "x").plan()


def test_a_browser_that_leaves_is_no_error(served, capfd):
    _, server = served
    handled = threading.Event()
    server.shutdown_request, close = lambda request: (close(request), handled.set()), server.shutdown_request
    with socket.create_connection(("127.0.0.1", server.server_port)) as browser:
        browser.sendall(b"GET /assets/site.js HTTP/1.0\r\n")
        # It is reset, and not closed, in the middle of its request.
        browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert handled.wait(30)
    assert capfd.readouterr().err == ""


def test_ctrl_c_ends_it_at_once(tmp_path):
    words = [sys.executable, "-m", "nematodebench", "serve", str(tmp_path), "--port", "0", "--seconds", "3600"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert "Ctrl-C ends it" in server.stdout.readline()
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(120) == 130
        assert server.stderr.read() == "nematodebench: interrupted.\n"
