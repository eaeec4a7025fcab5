"""`nematodebench board`, from outside."""

import json

import pytest
from submission_workshop import command, verified

README = "# Title\n\n<!-- leaders:begin -->\n<!-- leaders:end -->\n\nEnd.\n"


@pytest.fixture
def work(tmp_path):
    work = verified(tmp_path / "repo")
    (work.root / "README.md").write_text(README)
    return work


def files(work):
    return [(work.root / name).read_bytes() for name in ("README.md", "docs/nematodebench/LEADERBOARD.md")]


def test_regenerate_writes_both_files(work):
    assert command(work.root, "board", "regenerate").code == 0
    assert all(b"gradient_follower" in content for content in files(work))


def test_regenerating_again_changes_no_byte(work):
    command(work.root, "board", "regenerate")
    before = files(work)
    assert command(work.root, "board", "regenerate").code == 0
    assert files(work) == before


def test_check_passes_once_the_files_are_written(work):
    assert command(work.root, "board", "regenerate", "--check").code == 1
    command(work.root, "board", "regenerate")
    assert command(work.root, "board", "regenerate", "--check").code == 0


def test_check_writes_nothing(work):
    command(work.root, "board", "regenerate", "--check")
    assert (work.root / "README.md").read_text() == README
    assert not (work.root / "docs").exists()


def test_a_board_edited_by_hand_is_out_of_date(work):
    command(work.root, "board", "regenerate")
    path = work.root / "docs" / "nematodebench" / "LEADERBOARD.md"
    path.write_text(path.read_text().replace("gradient_follower", "my_brain"))
    outcome = command(work.root, "board", "regenerate", "--check")
    assert (outcome.code, "LEADERBOARD.md: NOT up to date" in outcome.out) == (1, True)


def test_a_rejected_submission_is_named_fails_the_command_and_is_not_on_the_board(work):
    work.claims["metrics"]["composite_score"]["mean"] = 0.999
    work.save()
    outcome = command(work.root, "board", "regenerate")
    assert (outcome.code, "rejected" in outcome.err) == (1, True)
    assert not any(b"gradient_follower" in content for content in files(work))


def test_check_fails_on_a_rejected_submission_even_if_the_files_are_current(work):
    (work.root / "benchmarks" / "stray.json").write_text("{}")
    command(work.root, "board", "regenerate")
    assert command(work.root, "board", "regenerate", "--check").code == 1


def test_a_readme_without_markers_is_a_mistake_of_the_user(work):
    (work.root / "README.md").write_text("# Title\n")
    assert command(work.root, "board", "regenerate").code == 2


def test_another_root_can_be_named(work, tmp_path):
    assert command(tmp_path, "board", "regenerate", "--root", work.root).code == 0
    assert command(tmp_path, "board", "show", "--root", work.root).code == 0


def test_show_prints_a_table(work):
    outcome = command(work.root, "board", "show")
    assert (outcome.code, "gradient_follower" in outcome.out) == (0, True)


def test_show_json_is_for_machines(work):
    (board,) = json.loads(command(work.root, "board", "show", "--json").out)["tasks"]
    assert [row["brain_type"] for row in board["scripted"]] == ["gradient_follower"]


def test_show_knows_the_tasks(work):
    assert command(work.root, "board", "show", "--task", "foragin_small").code == 2
    assert "There is no entry yet." in command(work.root, "board", "show", "--task", "predator_small-v1").out
