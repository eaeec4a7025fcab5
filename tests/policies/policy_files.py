"""The same rule in every format: go ahead where the odour is strongest ahead, else turn to its side."""

import itertools

import numpy as np

from nematodebench.policies.score import ScoreOptions, score_plan
from nematodebench.sessions.execution import run_plan

TASK = "foraging_small-v2"
RULE = np.zeros((4, 5), dtype=np.float32)  # forward, left, right, stay from strength, sine, cosine, satiety, touch
RULE[0, 2], RULE[1, 1], RULE[2, 1] = 1.0, -1.0, 1.0
BIAS = np.array([0.0, 0.0, 0.0, -5.0], dtype=np.float32)


def rule(observation):
    """The rule as a function."""
    return int(np.argmax(RULE @ observation + BIAS))


def here(policy, task=TASK, **options):
    """A session in this process, short unless told otherwise."""
    given = {"runs": 2, "seed": 1, "workers": 1, "executor": "threads", **options}
    return run_plan(score_plan(policy, task, ScoreOptions(**given)))


def bits(session):
    """What must not change."""
    assert not session.failed_runs, session.failed_runs[0].failure
    return [run.record_hash for run in session.runs]


def write_onnx(path, weight=RULE, bias=BIAS, shape=("batch", 5), *, more_inputs=()):
    """A graph of one layer."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kept = [numpy_helper.from_array(weight.T.copy(), "w"), numpy_helper.from_array(bias, "b")]
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", *more_inputs)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [shape[0], len(bias)])]
    graph = helper.make_graph(nodes, "rule", inputs, outputs, kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, str(path))
    return str(path)


def write_torch_script(path, weight=RULE, bias=BIAS):
    """A module of one layer."""
    import torch

    layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = torch.from_numpy(weight.copy()), torch.from_numpy(bias.copy())
    torch.jit.script(layer).save(str(path))
    return str(path)


def write_nir(path, weight=RULE, bias=BIAS, *neurons):
    """A graph of one layer, and perhaps neurons behind it."""
    import nir

    nodes = {"input": nir.Input(np.array([weight.shape[1]])), "layer": nir.Affine(weight, bias)}
    nodes |= {f"neurons{n}": one for n, one in enumerate(neurons)} | {"output": nir.Output(np.array([len(bias)]))}
    names = list(nodes)
    nir.write(str(path), nir.NIRGraph(nodes=nodes, edges=list(itertools.pairwise(names))))
    return str(path)


def write_zip(path, algorithm, task, **settings):
    """An untrained model of stable-baselines3."""
    import stable_baselines3

    from nematodebench.interop.env import NematodeEnv

    model = getattr(stable_baselines3, algorithm)("MlpPolicy", NematodeEnv(task), seed=3, device="cpu", **settings)
    model.save(str(path))
    return model
