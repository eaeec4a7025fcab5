"""``nematodebench rerun``: execute one recorded run again and compare its bits."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="rerun")(rerun)


def rerun(
    experiment: Annotated[Path, typer.Argument(help="folder or JSON file of a stored session")],
    run: Annotated[int, typer.Option("--run", help="number of the run, from 0")] = 0,
    trust_code: Annotated[bool, typer.Option("--trust-code", help="execute a brain that is somebody's code")] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Executes a run again from its recorded seed; exit code 1 unless every bit is the same."""
    from nematodebench.cli.show import print_json, print_table, printable
    from nematodebench.records.store import load_experiment
    from nematodebench.sessions.rerun import rerun as execute_again

    metadata = load_experiment(experiment)
    outcome = execute_again(metadata, run, trust_code, experiment)
    recorded, result = outcome.recorded, outcome.result
    facts = {
        "run": run, "seed": recorded.seed, "identical": outcome.identical, "difference": outcome.difference,
        "recorded": {"episodes": recorded.record_hash, "memory": recorded.memory_hash, "steps": recorded.steps},
        "again": {"episodes": result.record_hash, "memory": result.memory_hash, "steps": result.steps},
        "note": outcome.note,
        "failure": None if result.failure is None else result.failure.message,
        "recorded_failure": None if recorded.failure is None else recorded.failure.message,
    }  # fmt: skip
    if json:
        print_json(facts)
    else:
        print(printable(f"{metadata.task} {metadata.brain} run {run}, seed {recorded.seed}"), end="\n\n")
        sides = [{k: "none" if v is None else str(v) for k, v in facts[side].items()} for side in ("recorded", "again")]  # type: ignore[attr-defined]
        print_table(["what", "recorded", "again"], [[key, sides[0][key], sides[1][key]] for key in sides[0]])
        same = "IDENTICAL episodes, bit for bit" if outcome.note else "IDENTICAL, bit for bit"
        print(f"\n{same if outcome.identical else 'DIFFERENT'} ({result.seconds:.2f} s)")
        if outcome.note:
            print(outcome.note)
        if outcome.difference:
            print(printable(outcome.difference))
        if not outcome.identical and not outcome.same_platform:
            machine = printable(metadata.provenance.machine)
            print(f"the session was made on {machine}: bits are promised within x86-64 only")
    if not outcome.identical:
        raise typer.Exit(1)
