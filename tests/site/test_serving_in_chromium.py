"""`serve` in a real Chromium, beside an experiment that is running."""

import socket
import subprocess
import sys
import threading

import pytest

from nematodebench.site.server import server_of

TASK, BRAIN, RUNS = "association-v2", "q_table", 400


@pytest.fixture
def served(tmp_path):
    with server_of(tmp_path, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield tmp_path, server
        server.shutdown()


def address(server):
    return f"http://127.0.0.1:{server.server_port}"


def test_a_running_experiment_is_followed_and_its_report_executes_a_run(served, page):
    folder, server = served
    page.goto(address(server))
    assert page.locator("#experiments tbody tr").count() == 0
    words = [
        "run",
        TASK,
        BRAIN,
        "--runs",
        str(RUNS),
        "--workers",
        "1",
        "--seed",
        "5",
        "--track",
        "--output",
        str(folder),
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "nematodebench", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        row = page.locator("#experiments tbody tr").first
        row.filter(has_text="running").wait_for(timeout=60_000)
        page.wait_for_function(PARTLY, timeout=60_000)
        assert f"{BRAIN} on {TASK}" in row.inner_text()
        row.filter(has_text="finished").wait_for(timeout=120_000)
        assert f"{BRAIN} on {TASK}" in row.inner_text()
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate(CUT_OFF) <= 0
    finally:
        told = run.communicate(timeout=120)[0]
    assert run.returncode == 0, told
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    row.get_by_role("link").click()
    page.get_by_role("button", name="again here").click()
    page.get_by_text("IDENTICAL").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Watch the best").click()
    page.locator("nb-viewer canvas").first.wait_for(timeout=60_000)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


CUT_OFF = """() => {
  const place = document.querySelector(".scroll");
  return place.scrollWidth - place.clientWidth;
}"""
PARTLY = f"""() => {{
  const bar = document.querySelector("#experiments progress");
  return bar && bar.max === {RUNS} && bar.value > 0;
}}"""


def test_a_server_that_ends_is_said(tmp_path, chromium):
    page = chromium.new_page()  # its console tells that nobody answers
    with server_of(tmp_path, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        page.goto(address(server))
        page.get_by_text("up to date").wait_for()
        server.shutdown()
    page.get_by_text("the server does not answer").wait_for()
    page.close()


def test_it_listens_to_this_machine_alone(served):
    _, server = served
    assert server.server_address[0] == "127.0.0.1"
    others = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    others = {one for one in others if not one.startswith("127.")} or {"127.0.0.2"}
    for other in others:
        with pytest.raises(OSError), socket.create_connection((other, server.server_port), timeout=5):
            pass
