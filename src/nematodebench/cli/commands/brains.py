"""``nematodebench brains``: what brains there are, or one of them in full."""

import inspect
from dataclasses import astuple
from typing import Annotated, Any

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="brains")(brains)


def brains(
    name: Annotated[str | None, typer.Argument(help="a brain, to see its parameters")] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Lists the brains; NAME shows one with its parameters."""
    from nematodebench.cli.printing import print_json, print_table

    if name is None:
        from nematodebench.brains.listing import list_summaries

        rows = [list(astuple(summary)) for summary in list_summaries()]
        if json:
            print_json([dict(zip(("name", "class", "path", "what"), row, strict=True)) for row in rows])
        else:
            print_table(["brain", "class", "path", "what"], rows)
        return
    from nematodebench.brains.configs import parameters_of
    from nematodebench.brains.registry import class_of, get_brain, is_compiled

    brain = get_brain(name)
    fields: list[dict[str, Any]] = []
    for key, field in parameters_of(brain).items():
        fields.append({"parameter": key, "default": field.get_default(), "meaning": field.description or ""})
    if json:
        print_json({"name": name, "class": class_of(brain), "compiled": is_compiled(brain), "parameters": fields})
        return
    print(f"{name} ({class_of(brain)}, {'compiled' if is_compiled(brain) else 'Python'})\n\n{inspect.getdoc(brain)}\n")
    if fields:
        print_table(["parameter", "default", "meaning"], [[str(value) for value in row.values()] for row in fields])
