"""Serves a folder of experiments to this machine alone: how far they are, and a report of those that are finished.

It listens on the loopback address, answers only requests that name it, reads only sessions of the folder, and writes
nothing.
"""

import http.server
import json
import sys
import urllib.parse
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.records.store import find_record, load_experiment
from nematodebench.site.pages import need_libraries, render, site_script, style_sheet
from nematodebench.site.report import html_report

__all__ = ["ADDRESS", "progress", "server_of"]

ADDRESS = "127.0.0.1"
_HOSTS = {ADDRESS, "localhost"}
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline' 'self'; script-src 'unsafe-inline' 'wasm-unsafe-eval' 'self'; "
    "worker-src blob:; img-src data: 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Reports execute runs: the compiled kernels of this package, in a worker that the page makes of its own script."""
_HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": _POLICY,
}  # fmt: skip


def progress(folder: Path) -> list[dict[str, Any]]:
    """Every session of a folder, the latest first: its name, what it runs, how many runs ended, and of how many."""
    found = [_progress(place) for place in folder.iterdir() if place.is_dir() and not place.is_symlink()]
    return sorted((one for one in found if one is not None), key=lambda one: str(one["name"]), reverse=True)


def _progress(place: Path) -> dict[str, Any] | None:
    record, plan = find_record(place), place / "session.json"
    try:
        if record is not None:
            runs, what = _finished(record, record.stat().st_mtime_ns)
            return {"name": place.name, "what": what, "state": "finished", "done": runs, "runs": runs}
        if plan.is_file():
            content = json.loads(plan.read_bytes())
            done = sum(1 for _ in (place / "runs").glob("[0-9]*.npz"))
            runs, what = _planned(content)
            return {"name": place.name, "what": what, "state": "running or stopped", "done": done, "runs": runs}
    except (OSError, ValueError, UsageError, RecursionError):
        return {"name": place.name, "what": "", "state": "cannot be read", "done": 0, "runs": 0}
    return None


_KNOWN: dict[tuple[Path, int], tuple[int, str]] = {}


def _finished(record: Path, changed: int) -> tuple[int, str]:
    """The runs of a finished session, and what they are of; its record is read once."""
    key = (record, changed)
    if key not in _KNOWN:
        made = load_experiment(record)
        _KNOWN[key] = made.num_runs, f"{made.brain} on {made.task}"
    return _KNOWN[key]


def _planned(plan: Any) -> tuple[int, str]:
    """The number of runs in a stored plan, and what they are of."""
    found = plan.get("session") if isinstance(plan, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("runs"), int):
        return 0, ""
    return found["runs"], f"{found.get('brain', '')} on {found.get('task', '')}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server_version, sys_version = "nematodebench", ""
    folder: Path

    def do_GET(self) -> None:
        """Answers a request; one that came under another name is refused, as a page of somebody else may send it."""
        if (self.headers.get("Host") or "").partition(":")[0] not in _HOSTS:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"this server answers to 127.0.0.1 and localhost alone\n")
            return
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        try:
            answer = self._answer(path)
        except (UsageError, OSError) as error:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", f"{error}\n".encode())
            return
        if answer is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such page\n")
        else:
            self._send(HTTPStatus.OK, *answer)

    do_HEAD = do_GET  # noqa: N815  (a name of the library)

    def _answer(self, path: str) -> tuple[str, bytes] | None:
        if path == "/":
            page = render("serve.html", up="/", site_name=self.folder.name, rows=progress(self.folder))
            return "text/html; charset=utf-8", page.encode()
        if path == "/progress.json":
            return "application/json", json.dumps(progress(self.folder)).encode()
        if path == "/assets/site.css":
            return "text/css; charset=utf-8", style_sheet().encode()
        if path == "/assets/site.js":
            return "text/javascript; charset=utf-8", site_script().encode()
        if path.startswith("/experiment/"):
            return self._report(path.removeprefix("/experiment/"))
        return None

    def _report(self, name: str) -> tuple[str, bytes] | None:
        """The report of one finished session; only names that the folder itself lists are opened."""
        known = {one["name"] for one in progress(self.folder) if one["state"] == "finished"}
        if name not in known:
            return None
        return "text/html; charset=utf-8", html_report(open_sources([self.folder / name])).encode()

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for key, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Requests are not told: the terminal is for the user."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone before the answer was there is nobody's mistake."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server_of(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """A server of a folder, not yet answering; its port is chosen by the system if 0 is asked for."""
    need_libraries()
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: give the one that `nematodebench run --track` stores sessions in.")
    handler = type("Handler", (_Handler,), {"folder": folder.resolve()})
    try:
        return _Server((ADDRESS, port), handler)
    except OSError as error:
        raise UsageError(f"Port {port} cannot be used: {error.strerror}. Give another one with --port.") from error
