"""The decorators that compile."""

from nematodebench.kernels.jit import inlined, kernel


@inlined
def one_more(number):
    return number + 1


@kernel()
def two_more(number):
    return one_more(one_more(number))


def test_a_helper_that_is_inlined_is_a_part_of_its_callers():
    assert two_more(3) == 5


def test_python_can_call_a_helper_that_kernels_call():
    assert one_more(3) == 4
    assert two_more(one_more(3)) == 6
