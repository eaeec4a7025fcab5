"""Everything that somebody needs to check a submission."""

import json
import shlex
from typing import Any

from nematodebench.board.collect import Listing
from nematodebench.records.made_with import commit_words, version_words
from nematodebench.site.cells import stat
from nematodebench.site.entries import day, file_name

__all__ = ["submission_facts"]


def submission_facts(listing: Listing, signer: tuple[str, str] | None) -> dict[str, Any]:
    """The content of a submission's page.

    Args:
        listing: The entry.
        signer: Owner and id of the key that signed its verification; None for an entry that waits.
    """
    made, again = listing.submission, listing.verified
    claimed, fresh = made.metrics.by_name(), {} if again is None else dict(again.metrics)
    names = [made.score_key, *(name for name in claimed if name != made.score_key)]
    return {
        "id": made.submission_id, "brain": made.brain_type, "task": made.environment.task,
        "task_file": file_name(made.environment.task), "lead": _lead(listing, signer), "commands": _commands(listing),
        "metrics": [[name, stat(claimed.get(name)), stat(fresh.get(name))] for name in names],
        "facts": _facts(listing, signer), "notes": made.notes,
        "config": json.dumps(made.brain_config, indent=1),
        "sessions": [[one.experiment_id, one.session_seed, one.num_runs, one.metadata_sha256] for one in made.sessions],
    }  # fmt: skip


def _lead(listing: Listing, signer: tuple[str, str] | None) -> str:
    again = listing.verified
    if again is None:
        return "This entry passed the checks of its data and waits for verification: its score is a claim."
    done = again.reexecution
    who = "" if signer is None else f" by {signer[0].partition(',')[0]}"
    return (
        f"{stat(listing.score)} in {listing.runs} fresh runs; verified{who} on {again.finished[:10]}: {done.identical} "
        f"of {done.claimed} claimed runs came out the same bit for bit."
    )


def _commands(listing: Listing) -> list[str]:
    path = shlex.quote(listing.path)
    first = listing.submission.sessions[0].file_path.rpartition("/")[0]
    return [
        f"nematodebench evaluate {path} --reproduce 20", f"nematodebench verify {path}",
        f"nematodebench rerun {shlex.quote(first)} --run 0",
        f"nematodebench run --config {shlex.quote(listing.submission.config_file)} --track",
    ]  # fmt: skip


def _facts(listing: Listing, signer: tuple[str, str] | None) -> list[tuple[str, Any]]:
    made, again = listing.submission, listing.verified
    code = made.provenance
    facts: list[tuple[str, Any]] = [
        ("submission", made.submission_id), ("file", listing.path), ("contributor", made.contributor),
        ("GitHub", made.github or "–"), ("class", listing.brain_class), ("date", day(listing.entry.date)),
        ("claimed runs", f"{made.total_runs} in {made.total_sessions} sessions"), ("config file", made.config_file),
        ("task specification", made.environment.spec_hash), ("package", f"{code.package_version}, {code.source_hash}"),
        ("commit of the package", commit_words(code.git_commit, code.git_dirty)),
        ("made with", f"{version_words(code)}, {code.cpu}"),
    ]  # fmt: skip
    if made.bundle is not None:
        facts.append(("source of the brain", f"bundle {made.bundle.sha256}, entry {made.bundle.entry}"))
    if listing.chemotaxis is not None:
        plate = listing.chemotaxis
        facts.append(
            ("chemotaxis", f"{plate.level}, index {plate.index:.2f} [{plate.ci95[0]:.2f}, {plate.ci95[1]:.2f}]")
        )
    if listing.tries > 1:
        facts.append(("verified entries", f"one of {listing.tries} of its brain, or of its contributor's own brains"))
    if again is not None:
        claim = again.claim
        facts += [
            ("verified by", "–" if signer is None else f"{signer[0]}, key {signer[1]}"),
            ("verified with", f"{again.provenance.package_version}, {again.provenance.source_hash}"),
            ("verified on", f"{version_words(again.provenance)}, {again.provenance.cpu}"),
            ("challenge", again.challenge),
            ("fresh session seeds", ", ".join(map(str, again.session_seeds))),
        ]  # fmt: skip
        if claim is not None:
            words = "the claim is too good" if claim.too_good else "fresh runs support the claim"
            facts.append(("claim against fresh runs", f"{words} (p = {claim.p:.3g}, by {claim.unit})"))
    return facts
