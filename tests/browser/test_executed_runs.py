"""Chromium executes the very runs that the package executes: same records, same memory, from the seed alone."""

import pytest
from executed import BRAINS, compared, hashes, home_of, site, worlds

from nematodebench.engine.seeds import brain_seed, run_seed


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def opened(page, address):
    page.goto(address)
    return page


@pytest.mark.parametrize("brain", BRAINS)
def test_every_compiled_brain(opened, brain):
    (here, _), there = compared(opened, home_of(brain), brain, run=1, episodes=3)
    assert hashes(there) == here


@pytest.mark.parametrize("task", worlds())
def test_every_compiled_world(opened, task):
    brain = "mlp_reinforce" if worlds()[task] == 1 else "null_random"
    (here, _), there = compared(opened, task, brain, episodes=2, watch=[1])
    assert hashes(there) == here, "or watching has changed it"
    assert min(there["rows"]) > 0
    assert len(there["rows"]) > 1


@pytest.mark.parametrize("brain", ["mlp_ppo", "spiking_rstdp", "gradient_follower"])
def test_without_relaxed_instructions(opened, brain):
    opened.evaluate("window.nbVariant = 'exact'")
    (here, _), there = compared(opened, "foraging_small-v1", brain, episodes=3)
    assert (hashes(there), there["variant"]) == (here, "exact")


def test_a_run_through_several_worlds_with_tests_in_between(opened):
    (here, _), there = compared(opened, "continual-v1", "q_table", episodes=2)
    assert hashes(there) == here


def test_a_task_in_which_nothing_learns(opened):
    (here, _), there = compared(opened, "wall_untrained-v1", "mlp_dqn", episodes=2)
    assert hashes(there) == here


def test_another_config(opened):
    config = {"learning_rate": 0.01, "hidden": [16]}
    (here, _), there = compared(opened, "foraging_small-v1", "mlp_reinforce", episodes=3, config=config)
    assert hashes(there) == here


def test_seeds_are_derived_in_the_page(opened):
    for session, run in [(0, 0), (2026, 49), (2**32 - 1, 10**6)]:
        seed = run_seed(session, run)
        assert opened.evaluate(f"String(nb.runSeed({session}, {run}))") == str(seed)
        assert opened.evaluate(f"String(nb.brainSeed({seed}n))") == str(brain_seed(seed))


def test_the_page_works_from_a_server_too(page, address):
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from pathlib import Path
    from threading import Thread
    from urllib.parse import unquote, urlsplit

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    folder = Path(unquote(urlsplit(address).path)).parent
    (folder / "favicon.ico").touch()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        (here, _), there = compared(page, "foraging_small-v1", "q_table", episodes=2)
        server.shutdown()
    assert hashes(there) == here


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "brain", "variant"),
    [
        ("foraging_small-v1", "mlp_ppo", "relaxed"),
        ("foraging_small-v1", "mlp_ppo", "exact"),
        ("foraging_small-v1", "spiking_rstdp", "relaxed"),
        ("predator_small-v1", "mlp_dqn", "relaxed"),
        ("wall-v1", "mlp_ppo", "relaxed"),
        ("continual-v1", "mlp_ppo", "relaxed"),
    ],
)
def test_whole_runs(opened, task, brain, variant, record_property):
    opened.evaluate(f"window.nbVariant = '{variant}'")
    (here, ours), there = compared(opened, task, brain)
    record_property(
        "seconds", f"{ours:.2f} here, {there['seconds']:.2f} in Chromium, {there['seconds'] / ours:.1f} times"
    )
    assert (hashes(there), there["variant"]) == (here, variant)
