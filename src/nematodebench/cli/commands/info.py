"""``nematodebench info``: versions, machine, code generation, cache: what belongs into a bug report."""

from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="info")(info)


def info(json: Annotated[bool, typer.Option("--json", help="for machines")] = False) -> None:
    """Shows versions, machine and where compiled code is kept."""
    from nematodebench.cli.show import print_json, print_table
    from nematodebench.engine.executors import default_workers
    from nematodebench.kernels.target import cache_root, code_generation
    from nematodebench.records.provenance import collect_provenance

    facts = collect_provenance(code_generation()).model_dump()
    facts.update(cores=default_workers(), cache=str(cache_root()))
    if json:
        print_json(facts)
    else:
        print_table(["what", "value"], [[key, str(value)] for key, value in facts.items()])
