"""Transfer between the tasks of a sequence."""

import numpy as np
import pytest

from nematodebench import scoring

MATRIX = np.array([[0.8, 0.1, 0.0], [0.5, 0.9, 0.2], [0.6, 0.7, 1.0]])


def test_transfer_matrix_is_the_success_of_each_test():
    successes = np.zeros((2, 2, 4))
    successes[1, 0, :3] = 1
    assert scoring.transfer_matrix(successes).tolist() == [[0.0, 0.0], [0.75, 0.0]]


def test_forgetting_by_task_is_after_learning_minus_at_the_end():
    assert scoring.forgetting_by_task(MATRIX) == pytest.approx([0.2, 0.2, 0.0])


def test_forgetting_is_averaged_over_all_tasks():
    assert scoring.forgetting(MATRIX) == pytest.approx(0.4 / 3)


def test_backward_transfer_is_averaged_over_the_earlier_tasks():
    assert scoring.backward_transfer(MATRIX) == pytest.approx(-0.2)


def test_improving_later_is_negative_forgetting():
    assert scoring.forgetting(np.array([[0.2, 0.0], [0.6, 0.5]])) == pytest.approx(-0.2)


def test_forward_transfer_is_the_share_of_what_was_left_to_gain():
    assert scoring.forward_transfer([0.75, 0.4], [0.5, 0.5]) == pytest.approx((0.5 - 0.2) / 2)


def test_runs_on_the_leading_axis_give_one_value_each():
    runs = np.stack([MATRIX, MATRIX[::-1, ::-1]])
    assert scoring.forgetting(runs).tolist() == [scoring.forgetting(run) for run in runs]


def test_a_reference_that_leaves_nothing_to_gain_is_refused():
    with pytest.raises(ValueError, match="reference_areas contains 1"):
        scoring.forward_transfer([0.5, 0.5], [1.0, 0.5])


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros((1, 1)), np.zeros(4)])
def test_a_matrix_that_is_not_square_is_refused(bad):
    with pytest.raises(ValueError, match=r"^matrix gives a matrix of shape"):
        scoring.forgetting(bad)


def test_areas_must_match_the_reference():
    with pytest.raises(ValueError, match="pass one area per task each"):
        scoring.forward_transfer([0.5, 0.5, 0.5], [0.2, 0.2])
