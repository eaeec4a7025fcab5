"""The built modules are those of the sources, and what they cannot execute is said in words."""

import json

import pytest

from nematodebench.browser.build import build
from nematodebench.browser.cases import can_execute, case, tables
from nematodebench.browser.extract import kernels
from nematodebench.browser.modules import case_script, module_scripts
from nematodebench.browser.sources import BUILT, VARIANTS, sources_hash
from nematodebench.browser.wasm_file import imports
from nematodebench.errors import UsageError

MANIFEST = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))


def test_they_are_current():
    assert MANIFEST["sources"] == sources_hash(), "the kernels have changed: run `make wasm`"


def test_every_kernel_is_in_them():
    missing = set(kernels()) - set(MANIFEST["kernels"])
    assert missing == {"browser.fused:fma32", "browser.fused:fma64"}, "run `make wasm`"


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_ask_for_nothing_but_the_hooks(variant):
    assert set(imports((BUILT / f"{variant}.wasm").read_bytes())) <= {"nb_after_step", "nb_after_act", "fmod"}


def test_what_cannot_be_executed_is_said():
    assert "written in Python" in can_execute("foraging_small-v1", "torch_reinforce")
    assert can_execute("foraging_small-v1", "mlp_ppo") == ""
    with pytest.raises(UsageError, match=r"cannot execute torch_reinforce on foraging_small-v1: .* written in Python"):
        case("foraging_small-v1", "torch_reinforce")


def test_scripts_cannot_end_the_element_they_stand_in():
    script = case_script("</script><b>", case("foraging_small-v1", "null_random"), tables("foraging_small-v1"))
    assert "<" not in script


def test_scripts_are_small():
    assert all(len(text) < 300_000 for text in module_scripts().values())


@pytest.mark.slow
def test_building_again_gives_the_same_bytes(tmp_path):
    build(tmp_path)
    for variant in VARIANTS:
        assert (tmp_path / f"{variant}.wasm").read_bytes() == (BUILT / f"{variant}.wasm").read_bytes()
