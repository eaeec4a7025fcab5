"""Parts of the kit that no built-in brain is made of: against torch and plain NumPy."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from nematodebench import kit
from nematodebench.kernels.rng import RNG_WORDS

RNG = np.random.default_rng(5)


def view(declaration, **sizes):
    """A part with memory of its own."""
    layout = declaration.lay_out(**sizes)
    return declaration(layout.hyper, layout.ints, np.zeros(layout.memory, dtype=np.float32))


def random(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def test_gaussian_probability_and_gradients_are_those_of_torch():
    means, chosen, spread = random(3), random(3), np.float32(0.3)
    mean = torch.tensor(means.astype(float), requires_grad=True)
    log_spread = torch.tensor(np.log(float(spread)), requires_grad=True)
    total = torch.distributions.Normal(mean, log_spread.exp()).log_prob(torch.tensor(chosen.astype(float))).sum()
    total.backward()
    gradient = np.zeros(3, dtype=np.float32)
    kit.gaussian_gradient(means, spread, chosen, np.float32(2.0), gradient)
    assert kit.gaussian_log_probability(means, spread, chosen) == pytest.approx(total.item(), rel=1e-5)
    assert gradient == pytest.approx(2.0 * mean.grad.numpy(), rel=1e-5)
    assert kit.gaussian_spread_gradient(means, spread, chosen) == pytest.approx(log_spread.grad.item(), rel=1e-4)


@pytest.mark.parametrize(("mean", "legal"), [(0.5, True), (9.0, True), (-9.0, True), (np.nan, False)])
def test_a_gaussian_action_is_cut_off_and_nan_is_kept(mean, legal):
    means, chosen, action = np.full(2, mean, np.float32), np.zeros(2, np.float32), np.zeros(2, np.float32)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    kit.sample_gaussian(means, np.float32(0.1), chosen, rng, action)
    assert bool(((action >= 0) & (action <= 1)).all()) == legal


def test_traces_are_sums_of_products_that_fade():
    traces, weights = view(kit.Traces, rows=3, columns=2), random(3, 2)
    expected, before = np.zeros((3, 2)), weights.copy()
    for _ in range(4):
        left, right = random(3), random(2)
        kit.fade_traces(traces, np.float32(0.8))
        kit.add_to_traces(traces, left, right)
        expected = 0.8 * expected + np.outer(left, right)
    kit.follow_traces(traces, weights, np.float32(0.5))
    assert weights == pytest.approx(before + 0.5 * expected, rel=1e-4, abs=1e-6)


def test_a_lif_layer_leaks_takes_up_fires_and_resets():
    layer = view(kit.LifLayer, **kit.LifLayer.shape(3, 5, leak=0.2, threshold=0.7))
    weights = random(3, 5)
    layer.weights[:] = weights
    potential = np.zeros(5)
    fired = 0
    for _ in range(30):
        drive = RNG.random(3).astype(np.float32) * (RNG.random(3) < 0.5)
        count = kit.run_layer(layer, drive.astype(np.float32))
        potential = 0.8 * potential + drive @ weights
        spikes = potential >= 0.7
        assert np.array_equal(np.asarray(layer.spikes) > 0, spikes)
        assert count == spikes.sum()
        potential[spikes] = 0.0
        fired += count
    assert fired > 0
    assert np.asarray(layer.potential) == pytest.approx(potential, rel=1e-4, abs=1e-5)
    kit.rest_layer(layer)
    assert not np.asarray(layer.potential).any()


def test_weights_of_a_lif_layer_have_the_size_they_are_said_to_have():
    layer = view(kit.LifLayer, **kit.LifLayer.shape(40, 50))
    kit.draw_weights(layer, np.zeros(RNG_WORDS, dtype=np.uint64), 2.0)
    assert np.asarray(layer.weights).std() * np.sqrt(40) == pytest.approx(2.0, rel=0.1)


class Table(kit.BrainMemory):
    inputs, choices = kit.size(), kit.size()
    values = kit.floats("choices", "inputs")


class TableBrain(kit.CompiledBrain):
    """One that has a row for each choice."""

    name, memory = "table", Table


def test_memory_for_choices_refuses_a_body_without_them():
    body = kit.Interface(("a", "b"), (0.0, 0.0), (1.0, 1.0), 0, 3)
    with pytest.raises(ValueError, match="is as large as the number of choices, and this body moves effectors"):
        TableBrain.layout(TableBrain.config(), body)


PAGE = (Path(__file__).parents[2] / "docs" / "kit.md").read_text(encoding="utf-8")


def test_the_page_has_every_part_with_its_sizes_and_fields():
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| `?(\w+)\.?(?:shape|sizes)?\(?([\w, ]*)\)?`?.* \| (.*) \|$", PAGE, re.MULTILINE
    )
    found = {}
    for parts, _, sizes, fields in rows:
        for part in re.findall(r"\w+", parts):
            declaration = getattr(kit, part, None)
            if not (inspect.isclass(declaration) and issubclass(declaration, kit.Memory)):
                continue
            found[part] = declaration
            given = [name for name in sizes.split(", ") if name]
            known = set(inspect.signature(declaration.shape).parameters) if hasattr(declaration, "shape") else {
                name for name, field in declaration.fields.items() if field.kind == "size"
            }  # fmt: skip
            assert set(given) <= known, part
            named = [] if fields.startswith("nothing") else re.findall(r"`(\w+)`", fields.partition(";")[0])
            assert all(any(name in one.fields for one in (declaration, kit.WeightedLinks)) for name in named), part
    declared = {name: getattr(kit, name) for name in kit.__all__}
    parts = {n for n, o in declared.items() if inspect.isclass(o) and issubclass(o, kit.Memory)}
    assert set(found) == parts - {"Memory", "BrainMemory"}
