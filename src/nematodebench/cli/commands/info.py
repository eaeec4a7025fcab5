"""``nematodebench info``: versions, machine, code generation, cache: what belongs into a bug report."""

from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="info")(info)


def info(json: Annotated[bool, typer.Option("--json", help="for machines")] = False) -> None:
    """Shows versions, machine and where compiled code is kept."""
    from nematodebench.cli.printing import print_json, print_table
    from nematodebench.kernels.cache_folder import cache_root
    from nematodebench.kernels.processor import cpu_level, usable_cores
    from nematodebench.records.provenance import collect_provenance

    facts = collect_provenance(cpu_level()).model_dump()
    facts.update(cores=usable_cores(), cache=str(cache_root()))
    if json:
        print_json(facts)
    else:
        print_table(["what", "value"], [[key, _word(value)] for key, value in facts.items()])


def _word(value: object) -> str:
    """A value without the words of Python."""
    return "-" if value is None else "yes" if value is True else "no" if value is False else str(value)
