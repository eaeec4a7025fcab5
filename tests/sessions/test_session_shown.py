"""How a session shows itself in an interpreter and in a notebook."""

import nematodebench as nb


def test_a_session_is_one_short_line_and_a_table_in_a_notebook():
    session = nb.run("pattern_memory_easy-v2", "null_random", runs=3, episodes=4, seed=5)
    shown = repr(session)
    assert shown.startswith("<Session pattern_memory_easy-v2 null_random: 3 runs, seed 5, reward ")
    assert "\n" not in shown
    assert repr(session.metrics).splitlines()[0].split()[0] == "reward"
    assert session._repr_html_().count("<tr>") == 1 + len(session.metrics)


def test_a_run_is_one_short_line_without_its_episodes():
    session = nb.run("pattern_memory_easy-v2", "null_random", runs=1, episodes=4, seed=5)
    run = session.runs[0]
    assert repr(run).startswith(f"<Run 0, seed {run.seed}: {run.steps} steps, reward ")
    assert "array" not in repr(run)
    assert "array" not in repr(session.finished_runs)


class Fails:
    """Fails at once."""

    def __init__(self, *given):
        raise RuntimeError("two\nlines")

    def begin_episode(self): ...

    def act(self, observation): ...

    def learn(self, transition): ...


def test_a_failed_session_says_that_its_score_is_missing():
    session = nb.run("pattern_memory_easy-v2", Fails, runs=1, episodes=4, seed=5)
    assert repr(session).endswith("Fails: 1 run (1 failed), seed 5, reward missing>")
    (failed,) = session.failed_runs
    assert repr(failed).startswith(
        f"<Run 0, seed {failed.seed}: failed, RuntimeError: two lines (test_session_shown.py"
    )
