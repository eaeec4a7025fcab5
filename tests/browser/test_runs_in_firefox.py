"""Firefox executes the very runs that the package executes: another engine, the same modules and the same bits."""

import pytest
from executed import BRAINS, compared, hashes, home_of, site, worlds

from perf._firefox import Firefox, firefox_path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if firefox_path() is None:
        pytest.skip("there is no Firefox here: apt-get install firefox-esr")
    address = site(tmp_path_factory.mktemp("site"))
    with Firefox(tmp_path_factory.mktemp("profile")) as page:
        yield page, address


@pytest.fixture
def opened(browser):
    """The page, loaded anew: it chooses its module once."""
    page, address = browser
    page.goto(address)
    return page


def same_in_both(page, brain, variant):
    page.evaluate(f"window.nbVariant = '{variant}'")
    (here, _), there = compared(page, home_of(brain), brain, run=1, episodes=3)
    return (hashes(there), there["variant"]) == (here, variant)


@pytest.mark.parametrize("brain", BRAINS)
def test_every_compiled_brain(opened, brain):
    assert same_in_both(opened, brain, "relaxed")


@pytest.mark.parametrize("brain", ["mlp_ppo", "spiking_rstdp", "gradient_follower"])
def test_without_relaxed_instructions(opened, brain):
    assert same_in_both(opened, brain, "exact")


@pytest.mark.parametrize("task", worlds())
def test_every_compiled_world(opened, task):
    opened.evaluate("window.nbVariant = 'relaxed'")
    brain = "mlp_reinforce" if worlds()[task] == 1 else "null_random"
    (here, _), there = compared(opened, task, brain, episodes=2, watch=[1])
    assert hashes(there) == here


def test_the_page_chooses_the_module_by_itself(opened):
    (here, _), there = compared(opened, "foraging_small-v1", "mlp_ppo", episodes=20)
    assert hashes(there) == here
