"""The board as Markdown."""

from dataclasses import replace

import pytest
from submission_workshop import verified

from nematodebench.board import markdown
from nematodebench.board.collect import Collection, listing_of
from nematodebench.board.markdown import BEGIN, END, leaderboard, leaders, with_leaders
from nematodebench.errors import UsageError
from nematodebench.submissions.store import load_submission
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.ranked import blind_line
from nematodebench.tasks.registry import get_task
from nematodebench.verification.store import read_all

TASK = "foraging_small-v1"


@pytest.fixture(autouse=True)
def ranked(monkeypatch):
    """Whether the task is ranked follows from its anchors, which are no matter of these tests but where they say so."""
    reasons = []
    monkeypatch.setattr(markdown, "why_unranked", lambda task, resolution: reasons)
    return reasons


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    work = verified(tmp_path_factory.mktemp("board") / "repo")
    (digest,) = (believed := read_all(work.root)).records
    result = believed.result(digest)
    return listing_of(load_submission(work.path), work.path.relative_to(work.root).as_posix(), result)


def variant(genuine, id, mean=0.5, *, kind="classical", brain="mlp_ppo", date="20260102_030405", **changes):
    """The genuine listing with another score and other words."""
    moved = replace(genuine.score, mean=mean, ci95=(mean - 0.01, mean + 0.01))
    measured = genuine.verified.model_copy(update={"metrics": {**genuine.metrics, "composite_score": moved}})
    fields = {"brain_type": brain, "brain_class": kind, "timestamp": date, **changes}
    submission = genuine.submission.model_copy(update=fields)
    entry = replace(genuine.entry, id=id, brain=brain, brain_class=kind, mean=mean, ci95=moved.ci95, date=date)
    return replace(
        genuine,
        entry=entry,
        submission=submission,
        verified=measured,
        path=f"benchmarks/foraging_small/{kind}/{id}.json",
    )


def collection(*listings):
    return Collection({listing.entry.id: listing for listing in listings})


def rows(text, task=TASK):
    """The first table of a task's section, a dictionary a row."""
    lines = text.split(f"## {task}\n")[1].split("\n\n")[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def test_a_row_has_everything_the_board_promises(genuine):
    row = rows(leaderboard(collection(variant(genuine, "a", mean=0.8125))))[0]
    score = genuine.metrics
    assert (row["rank"], row["brain"], row["class"]) == ("1", "`mlp_ppo`", "classical")
    assert row["score"] == "0.812 ± 0.010"
    assert row["success"] == str(score["success_rate"])
    assert row["efficiency"] == str(score["distance_efficiency"])
    assert row["learning speed"] == str(score["learning_speed"])
    assert row["stability"] == str(score["stability"])
    assert row["level"] == genuine.level
    assert row["chemotaxis"].startswith(genuine.chemotaxis.level)
    assert (row["runs"], row["contributor"], row["date"]) == ("50", "Ada Example", "2026-01-02")
    assert row["data"] == "[data](../../benchmarks/foraging_small/classical/a.json)"
    assert "normalised" in row


def test_an_entry_says_how_it_was_verified_and_what_was_claimed(genuine):
    row = rows(leaderboard(collection(variant(genuine, "a"))))[0]
    assert row["verified"].startswith("50 of 500 identical, 50 fresh")
    assert row["claimed"].startswith(f"{genuine.submission.metrics.composite_score.mean:.3f}")


def test_an_entry_says_of_how_many_tries_it_is_one(genuine):
    one, many = variant(genuine, "a"), replace(variant(genuine, "b", brain="q_table"), tries=7)
    said = [row["verified"] for row in rows(leaderboard(collection(one, many)))[:2]]
    assert sorted("one of 7 entries" in text for text in said) == [False, True]
    assert not any("one of 1" in text for text in said)


def test_a_claim_that_the_fresh_runs_do_not_support_is_marked(genuine):
    entry = variant(genuine, "a")
    claim = entry.verified.claim.model_copy(update={"too_good": True, "p": 0.001})
    marked = replace(entry, verified=entry.verified.model_copy(update={"claim": claim}))
    assert "too good" in rows(leaderboard(collection(marked)))[0]["claimed"]


def test_learners_come_in_order_and_scripted_policies_after_them_without_a_rank(genuine):
    found = collection(
        variant(genuine, "a", 0.4, brain="low"),
        variant(genuine, "b", 0.9, brain="rule", kind="scripted"),
        variant(genuine, "c", 0.6, brain="high"),
    )
    shown = [(row["rank"], row["brain"]) for row in rows(leaderboard(found))[:3]]
    assert shown == [("1", "`high`"), ("2", "`low`"), ("–", "`rule`")]


def test_ranks_that_are_open_are_a_range_and_groups_share_letters(genuine):
    found = collection(
        *(variant(genuine, name, mean, brain=name) for name, mean in zip("abc", [0.9, 0.895, 0.5], strict=True))
    )
    shown = [(row["rank"], row["group"], row["brain"]) for row in rows(leaderboard(found))[:3]]
    assert shown == [("1-2", "a", "`a`"), ("1-2", "a", "`b`"), ("3", "b", "`c`")]
    assert "It tells 2 of 3 pairs of learners apart." in leaderboard(found)
    assert "`a` (rank 1-2)" in leaders(found)


def test_a_task_that_is_not_ranked_stands_under_a_heading_of_its_own_with_the_reason(genuine, ranked):
    ranked.append("the best blind policy gets 0.41")
    found = collection(variant(genuine, "a", 0.8), variant(genuine, "b", 0.4, brain="low"))
    above, below = leaderboard(found).split("# Tasks that are not ranked")
    assert TASK not in above
    assert "Not ranked: the best blind policy gets 0.41." in below
    assert [row["rank"] for row in rows(below)] == ["–"] * len(rows(below))
    line = next(line for line in leaders(found).split("Published, but not ranked.")[1].splitlines() if TASK in line)
    assert line.endswith("| the best blind policy gets 0.41 |")


def test_a_rank_without_skill_is_said(genuine):
    line = blind_line(load_anchors(get_task(TASK)))

    def measured(name, low):
        one = variant(genuine, name, brain=name)
        found = one.verified.normalised.model_copy(update={"ci95": (low, low + 0.02)})
        return replace(one, verified=one.verified.model_copy(update={"normalised": found}))

    found = collection(measured("a", line + 0.001), measured("b", line - 0.001))
    assert "Shown to be above the best input-blind policy: 1 of 2 learners." in leaderboard(found)
    warning = f"not shown to be above the best policy that ignores its input: those of `{TASK}`."
    assert warning not in leaders(collection(measured("a", line + 0.001)))
    assert warning in leaders(collection(measured("b", line - 0.001)))


def test_a_replacement_is_shown_and_marked_where_it_is_significant(genuine):
    old, new = variant(genuine, "old", 0.5, date="20260101_000000"), variant(genuine, "new", 0.6)
    row = rows(leaderboard(collection(old, new)))[0]
    assert row["replaced"] == "[0.500 ± 0.010](../../benchmarks/foraging_small/classical/old.json), *significant*"


def test_a_replacement_within_the_interval_is_not_marked(genuine):
    old, new = variant(genuine, "old", 0.5, date="20260101_000000"), variant(genuine, "new", 0.501)
    assert "significant" not in rows(leaderboard(collection(old, new)))[0]["replaced"]


def test_former_entries_are_in_the_history(genuine):
    old, new = variant(genuine, "old", 0.5, date="20260101_000000"), variant(genuine, "new", 0.6)
    history = leaderboard(collection(old, new)).split("### History")[1]
    assert "0.500 ± 0.010" in history
    assert "0.600 ± 0.010" not in history


def test_hostile_names_stay_in_their_cell(genuine):
    name = "a | b <img src=x> `c` [d](e)\n# f"
    row = rows(leaderboard(collection(variant(genuine, "a", contributor=name))))[0]
    assert not set(row["contributor"]) & set("<>`[]\n")
    assert row["date"] == "2026-01-02"


def test_a_contributor_with_a_handle_is_linked(genuine):
    row = rows(leaderboard(collection(variant(genuine, "a", github="ada-1"))))[0]
    assert row["contributor"] == "[Ada Example](https://github.com/ada-1)"


def test_the_order_of_reading_does_not_change_a_byte(genuine):
    listings = [variant(genuine, name, 0.5, brain=name) for name in "abc"]
    there, back = collection(*listings), collection(*reversed(listings))
    assert (leaderboard(there), leaders(there)) == (leaderboard(back), leaders(back))


def test_the_leaders_name_the_best_learner_beside_the_scripted_policies(genuine):
    rule = variant(genuine, "b", 0.9, brain="rule", kind="scripted")
    text = leaders(collection(variant(genuine, "a", 0.4, brain="low"), variant(genuine, "c", 0.6, brain="high"), rule))
    line = next(line for line in text.splitlines() if TASK in line)
    assert "`high`" in line
    assert "`rule` 0.900" in line
    assert "`low`" not in line


def test_a_task_without_learners_says_so(genuine):
    text = leaderboard(collection(variant(genuine, "a", kind="scripted")))
    assert "No learner has an entry yet." in text


def test_an_empty_board_says_so():
    assert "There is no entry yet." in leaderboard(Collection())
    assert "There is no entry yet." in leaders(Collection())


def test_only_the_part_between_the_markers_changes():
    assert with_leaders(f"a\n{BEGIN}\nold\n{END}\nb\n", "new") == f"a\n{BEGIN}\nnew\n{END}\nb\n"


@pytest.mark.parametrize("readme", ["", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}"])
def test_a_readme_without_proper_markers_is_refused(readme):
    with pytest.raises(UsageError, match="once each"):
        with_leaders(readme, "new")
