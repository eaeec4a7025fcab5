"""``nematodebench brains``: what brains there are, or one of them in full."""

import inspect
from dataclasses import astuple
from typing import Annotated, Any

import typer

__all__ = ["register"]

_TOLD = {
    "parameters": ("parameters", "weights and biases"),
    "footprint": ("footprint", "bytes of memory"),
    "effective_macs": ("effective MACs", "multiply-accumulates an action"),
    "effective_acs": ("effective ACs", "accumulates an action, by spikes"),
    "dense": ("dense operations", "an action, if no signal and no weight were 0"),
    "activation_sparsity": ("activation sparsity", "share of activations that are 0"),
    "milliseconds": ("time", "ms for 1,000 steps with learning, this machine"),
}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="brains")(brains)


def brains(
    name: Annotated[str | None, typer.Argument(help="a brain, to see its parameters")] = None,
    task: Annotated[
        str | None, typer.Option(help="also train one run on this task, and show what an action and a step cost")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Lists the brains; NAME shows one with its parameters, and with --task what it costs."""
    from nematodebench.cli.printing import print_json, print_page, print_table
    from nematodebench.errors import UsageError

    if name is None:
        if task is not None:
            raise UsageError("--task shows what one brain costs: name the brain, as in `brains mlp_ppo --task TASK`.")
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
    cost = None if task is None else _cost(task, name)
    if json:
        told = {"name": name, "class": class_of(brain), "compiled": is_compiled(brain), "parameters": fields}
        print_json(told if cost is None else {**told, "task": task, "efficiency": cost})
        return
    text = inspect.getdoc(brain) or "Its class has no docstring."
    print_page(
        [f"{name} ({class_of(brain)}, {'compiled' if is_compiled(brain) else 'Python'})", "", *text.splitlines(), ""]
    )
    if fields:
        print_table(["parameter", "default", "meaning"], [[str(value) for value in row.values()] for row in fields])
    if cost is not None:
        print(f"\nWhat it costs on {task} (never part of a score)\n")
        print_table(["measure", "value", "unit"], [[_TOLD[key][0], _short(cost[key]), _TOLD[key][1]] for key in _TOLD])


def _cost(task: str, name: str) -> dict[str, Any]:
    from nematodebench.sessions.efficiency import measure_efficiency

    return measure_efficiency(task, name).as_dict()


def _short(value: float | None) -> str:
    """A count without decimals, anything smaller with three digits."""
    return "-" if value is None else f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
