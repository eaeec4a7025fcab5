"""Firefox without a window, driven by its own protocol (Marionette): messages of JSON over a socket, no other tool."""

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("firefox-esr", "firefox")
STARTING, ANSWERING = 120, 600  # s


def firefox_path() -> str | None:
    """Where the browser lies; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
        return port


class Firefox:
    """One browser with one page and a profile of its own; it ends with the ``with`` that opened it."""

    def __init__(self, profile: Path) -> None:
        port, self.asked = _free_port(), 0
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n', encoding="utf-8")
        words = [
            firefox_path() or NAMES[0],
            "--headless",
            "--marionette",
            "--no-remote",
            "--profile",
            str(profile),
            "about:blank",
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(profile)})  # fmt: skip
        self.socket = self._connected(port)
        self.incoming = self.socket.makefile("rb")
        self._heard()  # it says who it is
        self.ask("WebDriver:NewSession", {})
        self.ask("WebDriver:SetTimeouts", {"script": ANSWERING * 1000})

    def _connected(self, port: int) -> socket.socket:
        end = time.monotonic() + STARTING
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=ANSWERING)
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.process.kill()
                    raise RuntimeError("Firefox did not start") from None
                time.sleep(0.1)

    def _heard(self) -> Any:
        length = b""
        while (one := self.incoming.read(1)) != b":":
            assert one, "Firefox has ended"
            length += one
        return json.loads(self.incoming.read(int(length)))

    def ask(self, name: str, given: dict[str, Any]) -> Any:
        """One command of the protocol, and its answer."""
        self.asked += 1
        message = json.dumps([0, self.asked, name, given]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self._heard()
        assert error is None, error
        return answer

    def goto(self, address: str) -> None:
        """Opens a page."""
        self.ask("WebDriver:Navigate", {"url": address})

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """As a page of Playwright does: statements, or an async function that is called with the argument."""
        text = f"return ({script})(arguments[0])" if script.startswith("async") else "window.eval(arguments[0])"
        given = {"script": text, "args": [argument if script.startswith("async") else script], "sandbox": None}
        return self.ask("WebDriver:ExecuteScript", given)["value"]

    def __enter__(self) -> "Firefox":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=60)
