"""The command line. Every file in ``commands`` is a command, and no other package prints."""

import contextlib
import importlib
import pkgutil
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from nematodebench import __version__
from nematodebench.cli import commands
from nematodebench.cli.progress import plain_notices
from nematodebench.cli.streams import careful_streams
from nematodebench.cli.tables import show_wide, tables_as_csv
from nematodebench.edits import one_state
from nematodebench.errors import Interrupted, StorageError, UsageError, missing_extra

__all__ = ["build", "main"]

_MISUSE: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What Typer raises for words that are no command, option or value."""
_INTERRUPTED = 130
"""The exit code of what Ctrl-C has ended."""


def build() -> typer.Typer:
    """The application with every command of this package."""
    app = typer.Typer(
        name="nematodebench",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}").register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"nematodebench {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="Tables with all columns, whatever the terminal; anywhere in the command.")
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Tables as CSV, all else to standard error; anywhere in the command.")
    ] = False,
) -> None:
    """Is my brain better than chance, than the reference, than yours, and can anyone check it?"""


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """A request to end, or a terminal that closes, is what Ctrl-C is: everything finished is kept."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        names = []

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def main() -> None:
    """Entry point: mistakes become one line and exit code 2, failures exit code 1."""
    words = [word for word in sys.argv[1:] if word not in {"--wide", "--csv"}]
    if "--wide" in sys.argv[1:]:
        show_wide()
    csv = "--csv" in sys.argv[1:]
    try:
        if csv and "--json" in words:
            raise UsageError("--csv and --json are two forms of the same: give one of them.")
        with (
            one_state(),
            _stopped_by_signals(),
            plain_notices(),
            careful_streams(),
            tables_as_csv() if csv else contextlib.nullcontext(),
        ):
            code = build()(words, standalone_mode=False)
    except UsageError as error:
        _complain(error, 2)
    except _MISUSE as error:
        _complain(_told(error), 2)
    except StorageError as error:
        _complain(error, 1)
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted.", _INTERRUPTED)
    except Interrupted as stop:
        hint = f" Nothing is lost: {stop.way_on}" if stop.way_on else ""
        _complain(f"interrupted.{hint}", _INTERRUPTED)
    except ImportError as error:
        if not missing_extra(error):
            raise
        _complain(f"{error.name} is not installed. {missing_extra(error)}", 2)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        what = "The output cannot be written" if error.filename is None else f"{error.filename} cannot be used"
        _complain(f"{what}: {error.strerror or error}.", 1)
    if code == _INTERRUPTED:  # Typer makes an exit code of Ctrl-C, since one of its later versions
        _complain("interrupted.", _INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: Any) -> str:
    """A mistake in the words of a command, in one line that says where its options are."""
    text = " ".join(error.format_message().split())
    if not text:  # a command without words has printed its help
        sys.exit(2)
    where = getattr(getattr(error, "ctx", None), "command_path", "nematodebench")
    return f"{text.rstrip('.')}. See `{where} --help`."


def _complain(problem: object, code: int) -> None:
    from nematodebench.cli.printing import printable

    print(f"nematodebench: {printable(str(problem))}", file=sys.stderr)
    sys.exit(code)
