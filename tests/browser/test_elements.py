"""The elements of a page: executing a run again, watching it, and training a brain."""

from base64 import b64decode, b64encode

import pytest
from executed import SESSION, native, shortened, site

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain
from nematodebench.browser.cases import case, tables
from nematodebench.browser.modules import assignment, case_script
from nematodebench.browser.pages import write_play_page
from nematodebench.browser.play import blind_case, play_data, sliders
from nematodebench.engine.run import RunSpec, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.site.marks import marks
from nematodebench.tasks.continual import continual_task
from nematodebench.tasks.registry import get_task

TASK = "foraging_small-v2"
HEAD = (
    '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width"><title>t</title>'
    "<script src=data.js></script><script src=run.js></script>"
)


@pytest.fixture(scope="module")
def opened_page(tmp_path_factory):
    """Writes a page with elements; returns its address."""
    folder = tmp_path_factory.mktemp("elements")
    address = site(folder)
    task = shortened(get_task(TASK), 6)
    data, shared = play_data((TASK,), ("q_table",))
    for one in [data["tasks"][TASK]["null"], data["tasks"][TASK]["blind"], *data["tasks"][TASK]["brains"].values()]:
        one["phases"] = [{**phase, "episodes": min(phase["episodes"], 8)} for phase in one["phases"]]
    scripts = [
        case_script("one", case(task, "q_table"), tables(task)),
        case_script("long", case(TASK, "mlp_ppo"), tables(TASK)),
        case_script("other", case(task, "null_random"), {}),
        case_script("blind", blind_case(TASK), {}),
        assignment("nbPlay", "play", data),
        *(assignment("nbTables", *table) for table in shared.items()),
    ]
    (folder / "data.js").write_text("".join(scripts), encoding="utf-8")
    hashes, _ = native(task, "q_table", 0)

    def write(body):
        (folder / "index.html").write_text(HEAD + body, encoding="utf-8")
        return address

    write.run = f"session={SESSION} run=0 record-hash={hashes['recordHash']} memory-hash={hashes['memoryHash']}"
    return write


def test_the_recorded_run_is_identical(page, opened_page):
    page.goto(opened_page(f"<nb-run case=one {opened_page.run}></nb-run>"))
    page.focus("nb-run button")
    page.keyboard.press("Enter")
    page.wait_for_selector("nb-run .nb-good")
    assert page.inner_text("nb-run .nb-good").startswith("IDENTICAL.")
    assert "s, by" in page.inner_text("nb-run .nb-quiet >> nth=-1")


def altered(text, place):
    """Marks of which one is another."""
    every, _, known = text.partition(":")
    found = bytearray(b64decode(known))
    found[place] ^= 1
    return f"{every}:{b64encode(found).decode()}"


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ("", "only the hashes are kept"),
        (marks, "The marks of its episodes are the recorded ones"),
        (lambda task, records: altered(marks(task, records), 3), "It parted at episode 4 of phase 'train'."),
        (lambda task, records: altered(marks(task, records, 4), 1), "between episodes 5 and 6 of phase 'train'."),
        (lambda task, records: altered(marks(task, records, 4), 2), "It parted at episode 1 of phase 'assay'."),
    ],
)
def test_a_run_that_differs_is_told_where(page, opened_page, known, told):
    task = shortened(get_task(TASK), 6)
    kind = get_brain("q_table")
    spec = RunSpec(task, "q_table", kind, resolve_config("q_table", kind, {}), run_seed(SESSION, 0), 0)
    given = known and known(task, execute(spec).records)
    run = opened_page.run.replace("record-hash=", "record-hash=0")
    page.goto(opened_page(f'<nb-run case=one marks="{given}" {run}></nb-run>'))
    page.click("nb-run button")
    page.wait_for_selector("nb-run .nb-bad")
    text = page.inner_text("nb-run .nb-bad")
    assert text.startswith("DIFFERENT. The episodes are not the recorded ones.")
    assert told in text


def test_a_brain_that_learned_something_else_is_told_so(page, opened_page):
    run = opened_page.run.replace("memory-hash=v2:", "memory-hash=v2:0")
    page.goto(opened_page(f"<nb-run case=one {run}></nb-run>"))
    page.click("nb-run button")
    page.wait_for_selector("nb-run .nb-bad")
    text = "DIFFERENT. The episodes are the same, the brain's memory is not."
    assert page.inner_text("nb-run .nb-bad") == text


def test_a_run_is_cancelled(page, opened_page):
    page.goto(opened_page(f"<nb-run case=long {opened_page.run}></nb-run>"))
    page.click("nb-run button")
    page.wait_for_function("document.querySelector('nb-run .nb-quiet').textContent.startsWith('episode')")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled.").wait_for()
    assert page.locator("nb-run button").first.is_enabled()


def test_a_case_that_is_not_there_is_said(page, opened_page):
    page.goto(opened_page(f"<nb-run case=none {opened_page.run}></nb-run>"))
    page.click("nb-run button")
    page.wait_for_selector("nb-run .nb-bad")
    assert "the page has no case 'none'" in page.inner_text("nb-run .nb-bad")


def test_a_run_is_watched_on_a_phone(page, opened_page):
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(opened_page(f"<nb-viewer case=one against=other blind=blind {opened_page.run}></nb-viewer>"))
    page.wait_for_function("document.querySelectorAll('nb-viewer .nb-gauges b').length > 4")
    assert page.locator("nb-viewer figcaption").all_inner_texts() == ["q_table, episode 1", "q_table, episode 6"]
    page.select_option("nb-viewer select[aria-label='beside it']", "case other")
    page.wait_for_function("document.querySelector('nb-viewer figure:last-child .nb-gauges')?.children.length > 3")
    assert page.locator("nb-viewer figcaption").all_inner_texts() == ["q_table, episode 6", "null_random, episode 6"]
    page.locator("nb-viewer button[aria-label='one step on']").click()
    assert page.inner_text("nb-viewer .nb-row .nb-quiet").startswith("step 1 of ")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


MINDS = {
    "mlp_ppo": "units of the network",
    "echo_state": "features that are read out",
    "spiking_rstdp": "spikes",
    "eprop": "spikes",
    "gru_ppo": "state that is carried on",
    "connectome_ppo": "neurons of the worm",
    "quantum_vqc": "expectation of Z",
    "q_table": "what it expects of each action",
    "active_inference": "which hidden context it believes to be in",
    "gradient_follower": "follows a fixed rule",
}
FIXED = {"gradient_follower"}

SEEN = """(brain) => {
  const episode = document.querySelector("nb-viewer").sides[0].episode;
  return episode.frames.map(({ mind }) => mind.chances?.reduce((sum, one) => sum + one, 0) ?? 1);
}"""


@pytest.mark.parametrize("brain", MINDS)
def test_the_panel_tells_what_a_brain_has_in_mind(page, opened_page, brain):
    task = shortened(get_task(TASK), 2)
    page.goto(opened_page(""))
    page.evaluate(case_script("mind", case(task, brain), tables(task)))
    page.evaluate("document.body.innerHTML = '<nb-viewer case=mind session=5 run=0></nb-viewer>'")
    page.wait_for_selector("nb-viewer .nb-gauges b", timeout=120_000)
    page.locator("nb-viewer summary").click()
    page.wait_for_selector("nb-viewer .nb-mind section")
    told = page.locator("nb-viewer .nb-mind").inner_text()
    assert "what it senses" in told and MINDS[brain] in told
    assert ("what it has learned" in told) == (brain not in FIXED)
    assert page.evaluate(SEEN, brain) == pytest.approx([1.0] * len(page.evaluate(SEEN, brain)), abs=1e-5)


def test_a_viewer_that_plays_moves_and_can_be_paused(page, opened_page):
    page.goto(opened_page(f"<nb-viewer plays case=one {opened_page.run}></nb-viewer>"))
    page.select_option("nb-viewer select[aria-label=speed]", "0.25")  # the film shall not end before the click
    page.wait_for_function("Number(document.querySelector('nb-viewer input[aria-label^=step]').value) > 2")
    page.get_by_role("button", name="Pause").click()
    at = page.input_value("nb-viewer input[aria-label^=step]")
    page.wait_for_timeout(300)
    assert page.input_value("nb-viewer input[aria-label^=step]") == at


BEGINS = """async ([phase, number, alone]) => {
  const seen = [];
  const given = { ...nb.caseOf('phases'), scored: phase };
  const told = { episode: ({ frames }) => seen.push(Array.from(frames[0].rows)) };
  await nb.execute(given, { session: 2026, run: 0 }, told, { watch: [number], onlyWatched: true, alone });
  return seen[0];
}"""


def test_an_episode_alone_begins_like_the_one_of_the_run(page, opened_page):
    """Ghosts are executed without what came before them, in every phase: their world has to be the run's."""
    task = continual_task(("association", "gridworld"), {"association": 3, "gridworld": 3}, 2)
    page.goto(opened_page(""))
    page.evaluate(case_script("phases", case(task, "null_random"), tables(task)))
    begun = [page.evaluate(BEGINS, [phase, 1, alone]) for phase in PHASES for alone in (False, True)]
    assert begun[0::2] == begun[1::2]
    assert begun[0] != begun[2]


PHASES = ("gridworld", "gridworld>gridworld")
"""The second phase of a run, and one in which a copy is tested."""


def test_a_brain_is_trained_in_the_page(page, opened_page):
    page.goto(opened_page("<nb-play></nb-play>"))
    page.locator("nb-play input[type=range]").first.fill("20")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function("document.querySelector('nb-play p[role=status]').textContent.startsWith('Trained')")
    words = page.locator("nb-play svg text").all_text_contents()
    assert {"chance", "best blind policy", "reference"} <= set(words)


def test_the_page_to_play_with_is_whole(page, tmp_path):
    page.goto(write_play_page(tmp_path, (TASK,), ("q_table", "mlp_ppo")).as_uri())
    assert page.locator("nb-play select[aria-label=brain] option").all_inner_texts() == ["q_table", "mlp_ppo"]
    page.select_option("nb-play select[aria-label=brain]", "mlp_ppo")
    assert page.locator("nb-play input[type=range]").count() > 4


def test_what_is_played_with_has_a_permalink(page, tmp_path):
    address = write_play_page(tmp_path, (TASK,), ("q_table", "mlp_ppo")).as_uri()
    page.goto(address)
    page.select_option("nb-play select[aria-label=brain]", "mlp_ppo")
    page.get_by_label("seed").fill("7")
    page.get_by_role("slider").first.press("ArrowRight")
    kept, number = page.url, page.locator("nb-play output").first.inner_text()
    assert "brain=mlp_ppo&seed=7&learning_rate=" in kept
    page.goto("about:blank")
    page.goto(kept)
    assert page.input_value("nb-play select[aria-label=brain]") == "mlp_ppo"
    assert (page.get_by_label("seed").input_value(), page.locator("nb-play output").first.inner_text()) == ("7", number)
    page.goto(address + "#task=none&brain=none&seed=x&gamma=much")
    assert page.locator("nb-play output").count() > 4


def test_a_slider_changes_one_constant_and_nothing_else():
    found = {one["name"]: one for one in sliders(get_brain("mlp_ppo"), get_task(TASK))}
    assert {"learning_rate", "gamma", "entropy"} <= set(found)
    assert all(len(one["places"]) == 1 for one in found.values())
    changed = case(TASK, "mlp_ppo", {"gamma": 0.5})["brain"]["hyper"]
    assert changed[found["gamma"]["places"][0]] == 0.5


@pytest.mark.parametrize(("width", "open_"), [(360, False), (1280, True)])
def test_on_a_phone_the_button_that_trains_is_seen_at_once(page, opened_page, width, open_):
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(opened_page("<nb-play></nb-play>"))
    assert page.locator("nb-play details").evaluate("one => one.open") == open_
    assert page.locator("nb-play button.nb-first").evaluate("one => one.getBoundingClientRect().bottom") < 740
