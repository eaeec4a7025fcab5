"""Torch populations: bits of a run, gradients, and that they learn."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gymnasium import spaces  # noqa: E402
from torch_policies import Ppo, Quick, Reinforce, Valueless, WithNorm  # noqa: E402

from nematodebench.engine import batch  # noqa: E402
from nematodebench.engine.batch import Transitions, execute_batch  # noqa: E402
from nematodebench.engine.executors import Watch, execute_all  # noqa: E402
from nematodebench.engine.run import RunSpec, compile_for, execute  # noqa: E402
from nematodebench.errors import UsageError  # noqa: E402
from nematodebench.tasks.registry import get_task  # noqa: E402

SENSES, CHOICES = spaces.Box(-1.0, 1.0, (3,), np.float32), spaces.Discrete(4)
LANES = 8
ALL = np.ones(LANES, dtype=bool)


@pytest.fixture(autouse=True)
def short_trials(monkeypatch):
    monkeypatch.setattr(batch, "_TRIAL_TICKS", 70)


def specs_of(brain, runs, task="foraging_small-v1", ticks=70):
    task = get_task(task)
    task = replace(task, phases=tuple(replace(one, episodes=0, ticks=ticks) for one in task.phases))
    compile_for(task, brain)
    return tuple(RunSpec(task, brain.__name__, brain, brain.config(), 77 + n, n) for n in range(runs))


def bits(results):
    return {run.index: (run.record_hash, run.memory_hash, run.steps, run.failure) for run in results}


@pytest.mark.parametrize(
    ("brain", "task"),
    [(Reinforce, "foraging_small-v1"), (Ppo, "foraging_small-v1"), (Ppo, "torus-v1"), (WithNorm, "association-v2")],
)
def test_a_run_is_the_same_alone_and_in_any_batch(brain, task):
    runs = 1 if task == "torus-v1" else 5
    specs = specs_of(brain, runs, task)
    alone = bits(map(execute, specs))
    assert all(found[3] is None for found in alone.values())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bits(execute_batch(specs)) == alone
        assert bits(execute_batch(specs[::-1][:2])) == {spec.index: alone[spec.index] for spec in specs[::-1][:2]}
    assert len({found[1] for found in alone.values()}) == runs


@pytest.mark.slow
def test_executors_do_not_matter():
    specs = specs_of(Reinforce, 10)
    alone = bits(map(execute, specs))
    assert bits(execute_all(specs, "threads", 1, Watch())) == alone
    assert bits(execute_all(specs, "processes", 1, Watch())) == alone


def step(population, reward, ended=False, lanes=ALL, observation=None):
    sensed = np.zeros((LANES, 3), np.float32) if observation is None else observation
    actions = population.act_batch(sensed, lanes)
    ends = np.full(LANES, ended)
    population.learn_batch(Transitions(lanes, sensed, actions, reward(actions), sensed, ends, ~ALL))
    return actions


@pytest.mark.parametrize("brain", [Reinforce, Ppo, WithNorm])
def test_a_population_learns_what_pays(brain):
    population = brain.batched(SENSES, CHOICES, Quick(learning_rate=0.03, gamma=0.0, entropy=0.0), range(LANES))
    for _ in range(32 * 25):
        step(population, lambda actions: (actions == 2) * 1.0)
    chosen = np.array([step(population, lambda actions: actions * 0.0) for _ in range(20)])
    assert ((chosen == 2).mean(axis=0) > 0.8).all()


def test_lanes_outside_of_the_mask_learn_nothing():
    population, some = Ppo.batched(SENSES, CHOICES, Quick(), range(LANES)), np.arange(LANES) < 3
    before = [population.memory_of(lane) for lane in range(LANES)]
    for _ in range(32):
        step(population, lambda actions: actions * 1.0, lanes=some)
    assert [population.memory_of(lane) != before[lane] for lane in range(LANES)] == some.tolist()


def test_an_update_is_that_of_plain_torch():
    """One lane against torch.optim.Adam on the loss as a textbook writes it."""
    config = Quick(rollout=16, entropy=0.02)
    population = Reinforce.batched(SENSES, CHOICES, config, range(LANES))
    torch.manual_seed(5)
    net = Reinforce.policy(3, 4)
    optimiser = torch.optim.Adam(net.parameters(), lr=config.learning_rate)
    generator = np.random.default_rng(0)
    for _ in range(3):
        seen, done, paid = [], [], generator.normal(size=(16, LANES))
        for t in range(16):
            sensed = generator.uniform(-1, 1, (LANES, 3)).astype(np.float32)
            done.append(step(population, lambda _, row=paid[t]: row, ended=t == 3, observation=sensed)[5])
            seen.append(sensed[5])
        returns, running = np.zeros(16), 0.0
        for t in reversed(range(16)):
            running = paid[t, 5] + config.gamma * running * (t != 3)
            returns[t] = running
        weights = torch.from_numpy((returns - returns.mean()) / (returns.std() + 1e-6))
        odds = torch.distributions.Categorical(logits=net(torch.from_numpy(np.stack(seen))))
        loss = -(weights * odds.log_prob(torch.tensor(done))).mean() - config.entropy * odds.entropy().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    plain = np.concatenate([value.detach().numpy().ravel() for value in net.parameters()])
    np.testing.assert_allclose(np.frombuffer(population.memory_of(5), np.float32), plain, rtol=1e-3, atol=2e-5)


def test_acting_computes_what_the_network_computes():
    population, sensed = Reinforce.batched(SENSES, CHOICES, Quick(), range(LANES)), np.eye(LANES, 3, dtype=np.float32)
    torch.manual_seed(5)
    wanted = Reinforce.policy(3, 4)(torch.from_numpy(sensed))[5].detach().numpy()
    odds = population._policy.of_rows(sensed, np.flatnonzero(ALL))
    assert population._policy._layers is not None
    np.testing.assert_allclose(odds[5], wanted, rtol=1e-5, atol=1e-6)
    copied = copy.deepcopy(population._policy)
    copied.flat *= 2.0
    assert (population._policy.of_rows(sensed, np.flatnonzero(ALL)) == odds).all()
    assert (copied.of_rows(sensed, np.flatnonzero(ALL)) != odds).any()


class NotFinite(Ppo):
    @staticmethod
    def policy(inputs, outputs):
        network = Ppo.policy(inputs, outputs)
        torch.nn.init.constant_(network[0].weight, float("nan"))
        return network


@pytest.mark.parametrize("task", ["foraging_small-v1", "tracking-v1"])
def test_a_policy_that_is_not_finite_fails_its_run_instead_of_going_on(task):
    failure = execute(specs_of(NotFinite, 1, task)[0]).failure
    assert failure is not None
    assert "nan" in failure.message.lower()


def test_what_a_lane_remembers_has_the_shapes_of_the_modules():
    population, module = Ppo.batched(SENSES, CHOICES, Quick(), range(LANES)), Ppo.policy(3, 4)
    rows = population.state_of(2)["rows"]
    assert [row.shape for row in rows[:4]] == [tuple(value.shape) for value in module.parameters()]
    other = Ppo.batched(SENSES, CHOICES, Quick(), range(LANES))
    for _ in range(40):
        step(population, lambda actions: actions * 1.0)
    other.put(3, population.state_of(2))
    assert other.memory_of(3) == population.memory_of(2)


def test_ppo_without_a_value_is_refused():
    with pytest.raises(UsageError, match="PPO needs a value"):
        Valueless.batched(SENSES, CHOICES, Quick(), range(LANES))


class _Recurrent(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.cell, self.kept = torch.nn.GRUCell(inputs, outputs), None

    def forward(self, x):
        self.kept = self.cell(x, self.kept)
        return self.kept


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (torch.nn.GRU, "its policy gives a tuple: a tensor is wanted"),
        (_Recurrent, "gives two answers for the same observations"),
        (lambda i, o: torch.nn.Sequential(torch.nn.Linear(i, o), torch.nn.Dropout(0.5)), "gives two answers"),
        (
            lambda i, o: torch.nn.Sequential(torch.nn.Linear(i, o), torch.nn.BatchNorm1d(o)),
            "BatchNorm|more than 1 value",
        ),
        (lambda i, o: torch.nn.Linear(i, o + 1), r"gives \[4, 5\] for 4 observations: \[4, 4\] is wanted"),
        (lambda i, o: torch.nn.Linear(i + 1, o), r"fails on observations of the shape \[4, 3\]: RuntimeError"),
        (lambda i, o: torch.nn.Linear(i, o).double(), "fails on observations of the shape"),
        (lambda i, o: torch.tanh, "it has to return a torch.nn.Module"),
        (lambda i, o: torch.nn.Identity(), "has no parameters"),
    ],
)
def test_a_network_that_a_population_cannot_train_is_refused_before_anything_runs(policy, reason):
    brain = type("Mine", (Reinforce,), {"policy": staticmethod(policy)})
    with pytest.raises(ValueError, match=reason):
        brain.check_body(SENSES, CHOICES, Quick())


@pytest.mark.parametrize("brain", [Reinforce, Ppo, WithNorm])
def test_networks_that_fit_are_accepted(brain):
    brain.check_body(SENSES, CHOICES, Quick())
    brain.check_body(SENSES, spaces.Box(0.0, 1.0, (3,), np.float32), Quick())


def test_an_unknown_algorithm_and_a_value_of_another_width_are_refused():
    with pytest.raises(UsageError, match="algorithm is 'sac'; there are reinforce and ppo"):
        type("Mine", (Reinforce,), {"algorithm": "sac"}).check_body(SENSES, CHOICES, Quick())
    with pytest.raises(UsageError, match="PPO needs a value"):
        Valueless.check_body(SENSES, CHOICES, Quick())
    wide = type("Mine", (Ppo,), {"value": staticmethod(lambda inputs: torch.nn.Linear(inputs, 2))})
    with pytest.raises(ValueError, match=r"its value gives \[4, 2\] for 4 observations: \[4, 1\] is wanted"):
        wide.check_body(SENSES, CHOICES, Quick())
