"""Submissions that mix brains or tasks, or whose configs and seeds are not those of their runs."""

import shutil
from pathlib import Path

import pytest
from forgery_workshop import Forgeries, Spoil, assert_rejected, claim
from submission_workshop import FORAGING, Work, commit, official

FORGERIES = Forgeries()
forgery, named = FORGERIES.register, FORGERIES.named


# One brain, one task.
@forgery("consistency", "differ in brain_config")
def _one_session_with_other_parameters(work: Work) -> None:
    work.edit_record(4, brain_config={**work.record(4)["brain_config"], "randomness": 0.0})


@forgery("consistency", "differ in brain: gradient_follower and null_random")
def _one_session_of_another_brain(work: Work) -> None:
    work.edit_record(4, brain="gradient_follower")


@forgery("consistency", "differ in grid size")
def _one_session_on_a_smaller_grid(work: Work) -> None:
    spec = work.record(4)["task_spec"]
    spec["phases"][0]["side"] = 6
    work.edit_record(4, task_spec=spec)


@forgery("task", "task_spec_hash is not that of its task_spec")
def _other_task_specification(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, task_spec_hash="0" * 64)


@forgery("task", "is not the registered foraging_small-v1: phases[0].side was 6 and is 20", FORAGING)
def _easier_grid_in_all_sessions(work: Work) -> None:
    for k in range(10):
        spec = work.record(k)["task_spec"]
        spec["phases"][0]["side"] = 6
        work.edit_record(k, task_spec=spec)


@forgery("task", "Task 'foraging_small-v9' is not registered")
def _other_task_version(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, task="foraging_small-v9")


@forgery("task", "is not official: the number of episodes was changed")
def _fewer_episodes(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, official=False)


@forgery("identity", "environment.grid_size is 10, but the data give 20", FORAGING)
def _other_grid_claimed(work: Work) -> None:
    work.claims["environment"]["grid_size"] = 10
    work.save()


@forgery("identity", "brain_type is 'mlp_ppo', but the data give 'null_random'")
def _brain_renamed_in_submission(work: Work) -> None:
    work.claims["brain_type"] = "mlp_ppo"
    work.save()


@forgery("brain", "brain 'null_random' is scripted, not classical")
def _scripted_brain_among_learners(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_class="classical")
    work.claims["brain_class"] = "classical"
    work.move(category="pattern_memory_easy/classical")


@forgery("brain", "'evil:Brain' is not registered in this installation, and the submission carries no bundle")
def _somebodys_code(work: Work) -> None:
    (work.root / "evil.py").write_text("raise SystemExit('somebody else's code ran')")
    for k in range(10):
        work.edit_record(k, brain="evil:Brain")


@forgery("brain", "Brain 'null_random' has no parameter")
def _unknown_parameter(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_config={**work.record(k)["brain_config"], "cheat": True})


@forgery("identity", "brain_config is not that of the sessions")
def _incomplete_parameters(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_config={"randomness": 0.1})


# Configs.
@forgery("session configs", "was changed after the session")
def _session_config_changed_after_the_fact(work: Work) -> None:
    (work.folder(0) / "follower.yml").write_text("task: foraging_small-v1\nbrain: mlp_ppo\n")
    work.sign(0)


@forgery("session configs", "does not describe the session: its parameters differ", FORAGING)
def _session_config_of_other_parameters(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: gradient_follower\nconfig: {randomness: 0.5}\nruns: 50\n")


@forgery("session configs", "has seed 7, but the session has")
def _session_config_of_another_seed(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: gradient_follower\nruns: 50\nseed: 7\n")


@forgery("session configs", "says with a tag what a value is")
def _yaml_tag(work: Work) -> None:
    work.edit_config(0, "task: !!python/object/apply:os.system [touch pwned]\nbrain: x\n")


@forgery("session configs", "uses YAML aliases")
def _yaml_aliases(work: Work) -> None:
    work.edit_config(0, "task: &a foraging_small-v1\nbrain: *a\n")


@forgery("session configs", "key 'brain' is given twice")
def _yaml_key_twice(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: a\nbrain: gradient_follower\n")


@forgery("config file", "configs/follower.yml does not exist")
def _config_deleted(work: Work) -> None:
    (work.root / "configs" / "follower.yml").unlink()


@forgery("config file", "configs/new.yml is not tracked in git")
def _config_not_tracked(work: Work) -> None:
    shutil.copy(work.root / "configs" / "follower.yml", work.root / "configs" / "new.yml")
    work.claims["config_file"] = "configs/new.yml"
    work.save()


@forgery("config file", "configs/follower.yml does not describe the sessions: its parameters differ", FORAGING)
def _config_changed_after_the_fact(work: Work) -> None:
    path = work.root / "configs" / "follower.yml"
    path.write_text(path.read_text() + "config: {randomness: 0.0}\n")
    commit(work.root)


@forgery("config file", "does not lie in configs/")
def _config_elsewhere(work: Work) -> None:
    claim(config_file="artifacts/follower.yml")(work)


@forgery("config file", "configs/link.yml is a symbolic link")
def _config_is_a_link(work: Work) -> None:
    (work.root / "configs" / "link.yml").symlink_to("follower.yml")
    commit(work.root)
    claim(config_file="configs/link.yml")(work)


# Seeds.
@forgery("seeds", "have the same session seed")
def _session_copied(work: Work) -> None:
    source, target = work.folder(0), work.folder(1)
    for name in ("episodes.parquet", "follower.yml"):
        shutil.copy(source / name, target / name)
    record = {**work.record(0), "experiment_id": target.name}
    reference = work.claims["sessions"][1]
    reference.update(session_seed=record["session_seed"], run_seeds=[run["seed"] for run in record["runs"]])
    work.save_record(1, record)


@forgery("seeds", "is not derived from session seed")
def _invented_seed(work: Work) -> None:
    record = work.record(0)
    record["runs"][7]["seed"] = work.claims["sessions"][0]["run_seeds"][7] = 12345
    work.save_record(0, record)


@forgery("seeds", "is used by")
def _duplicated_run_seed(work: Work) -> None:
    record = work.record(0)
    seed = work.record(1)["runs"][3]["seed"]
    record["runs"][7]["seed"] = work.claims["sessions"][0]["run_seeds"][7] = seed
    work.save_record(0, record)


named("seeds_not_unique_claimed", "counts", "all_seeds_unique is False", claim(all_seeds_unique=False))


@pytest.mark.parametrize(("spoil", "check", "message", "task"), FORGERIES)
def test_it_is_rejected_by_the_check_meant_for_it(
    tmp_path: Path, spoil: Spoil, check: str, message: str, task: str
) -> None:
    assert_rejected(tmp_path, spoil, check, message, task)


def test_yaml_tag_is_never_executed(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    _yaml_tag(work)
    work.evaluate()
    assert not list(tmp_path.rglob("pwned"))
