"""``nematodebench serve``: experiments that run, in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="serve")(serve)


def serve(
    folder: Annotated[Path, typer.Argument(help="where `run --track` stores sessions")] = Path("experiments"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: the system chooses one")] = 8765,
    seconds: Annotated[float, typer.Option(min=0.0, help="end after so many seconds; 0: when you press Ctrl-C")] = 0.0,
) -> None:
    """Shows how far experiments are and reports of finished ones, to this machine alone; it writes nothing."""
    import threading

    from nematodebench.site.server import ADDRESS, server_of

    with server_of(folder, port) as server:
        print(f"http://{ADDRESS}:{server.server_port}/ (Ctrl-C ends it)", flush=True)
        if seconds:
            timer = threading.Timer(seconds, server.shutdown)
            timer.daemon = True  # who ends it earlier does not wait for it
            timer.start()
        server.serve_forever(poll_interval=0.2)
