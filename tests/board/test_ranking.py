"""Who stands on the board, and in what order."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nematodebench.board.ranking import Entry, is_significant, order, rank, replaces

# How long an example takes says nothing about the board.
_LEVELS = ["None", "Minimum", "Target", "Excellent"]


def entry(id="a", mean=0.5, half=0.01, **changes):
    base = Entry(
        id, "mlp_ppo", "foraging_small-v1", "classical", mean, (mean - half, mean + half), 0.01, "None", "20260101"
    )
    return replace(base, **changes)


@st.composite
def entries(draw):
    count = draw(st.integers(0, 12))
    return [
        entry(
            id=f"s{k}",
            mean=draw(st.sampled_from([0.5, 0.5001, 0.5004, 0.501, 0.7])),
            half=draw(st.sampled_from([0.0001, 0.05])),
            brain=draw(st.sampled_from(["x", "y", "z"])),
            task=draw(st.sampled_from(["one-v1", "two-v1"])),
            variance=draw(st.sampled_from([0.01, 0.02])),
            biological=draw(st.sampled_from(_LEVELS)),
            date=draw(st.sampled_from(["20260101", "20260102", "20260103"])),
        )
        for k in range(count)
    ]


def test_the_higher_mean_comes_first():
    low, high = entry("a", 0.5), entry("b", 0.501)
    assert order([low, high]) == [high, low]


def test_means_equal_at_three_decimals_are_told_apart_by_variance_not_by_further_digits():
    noisy, steady = entry("a", 0.50049, variance=0.02), entry("b", 0.5, variance=0.01)
    assert order([noisy, steady]) == [steady, noisy]


def test_equal_variance_the_better_biological_level_comes_first():
    best_first = [entry(name, biological=name) for name in reversed(_LEVELS)]
    assert order(reversed(best_first)) == best_first


def test_a_brain_without_assay_does_not_beat_one_that_failed_it():
    assert order([entry("a", biological="?"), entry("b", biological="None")])[0].id == "b"


def test_equal_in_everything_the_earlier_date_comes_first():
    late, early = entry("a", date="20260102"), entry("b", date="20260101")
    assert order([late, early]) == [early, late]


def test_rounding_noise_of_the_variance_does_not_decide():
    first, second = entry("a", variance=0.1 + 0.2, date="20260102"), entry("b", variance=0.3, date="20260101")
    assert order([first, second]) == [second, first]


@given(entries(), st.randoms())
def test_the_board_does_not_depend_on_the_order_of_the_input(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert rank(shuffled) == rank(found)


@given(entries(), st.randoms())
def test_the_order_is_total(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert order(shuffled) == order(found)


@given(entries())
def test_every_entry_is_current_or_history_exactly_once(found):
    seen = []
    for board in rank(found):
        seen += [standing.entry for standing in board.standings] + board.history
    assert sorted(one.id for one in seen) == sorted(one.id for one in found)


@given(entries())
def test_one_current_entry_for_each_brain_and_task(found):
    for board in rank(found):
        brains = [standing.entry.brain for standing in board.standings]
        assert sorted(brains) == sorted({one.brain for one in found if one.task == board.task})


@given(entries())
def test_the_current_entry_is_the_first_that_reached_the_highest_mean(found):
    for board in rank(found):
        for standing in board.learners:
            mine = [one for one in found if (one.brain, one.task) == (standing.entry.brain, board.task)]
            top = max(one.mean for one in mine)
            assert standing.entry == min((one for one in mine if one.mean == top), key=lambda one: (one.date, one.id))


@given(entries())
def test_ranks_of_learners_are_one_two_three(found):
    for board in rank(found):
        assert [standing.rank for standing in board.learners] == list(range(1, len(board.learners) + 1))


@given(entries(), st.sampled_from(["x", "y", "z"]), st.sampled_from(["scripted", "pretrained"]))
def test_policies_that_do_not_learn_change_no_rank_of_a_learner(found, apart, kind):
    marked = [replace(one, brain_class=kind if one.brain == apart else "classical") for one in found]
    learners = [one for one in marked if one.learns]
    with_them = {board.task: board.learners for board in rank(marked) if board.learners}
    assert with_them == {board.task: board.learners for board in rank(learners)}


@given(entries())
def test_the_place_in_the_order_is_one_of_the_open_ranks_where_means_differ(found):
    for board in rank(found):
        means = [round(standing.entry.mean, 3) for standing in board.learners]
        for standing in board.learners:
            first, last = standing.ranks
            better = sum(mean > round(standing.entry.mean, 3) for mean in means)
            worse = sum(mean < round(standing.entry.mean, 3) for mean in means)
            assert first <= better + 1 <= last or first <= len(means) - worse <= last
            assert standing.group


def test_a_board_tells_its_resolution():
    (board,) = rank([entry("a", 0.9, brain="x"), entry("b", 0.899, brain="y"), entry("c", 0.2, brain="z")])
    assert [standing.ranks for standing in board.learners] == [(1, 2), (1, 2), (3, 3)]
    assert board.resolution == 2 / 3
    assert rank([entry()])[0].resolution is None


def test_a_policy_that_does_not_learn_is_never_ranked():
    rule, net = entry("a", 0.9, brain="rule", brain_class="scripted"), entry("c", 0.8, brain="net")
    (board,) = rank([rule, entry("b", 0.2), replace(net, brain_class="pretrained")])
    assert [(one.entry.id, one.rank) for one in board.learners] == [("b", 1)]
    assert [(one.entry.id, one.rank) for one in board.scripted] == [("a", None)]
    assert [(one.entry.id, one.rank) for one in board.pretrained] == [("c", None)]
    assert [one.entry.id for one in board.standings] == ["b", "c", "a"]


def test_a_higher_mean_replaces_even_within_the_interval():
    (board,) = rank([entry("old", 0.5, date="1"), entry("new", 0.5001, date="2")])
    assert (board.learners[0].entry.id, board.learners[0].replaced.id) == ("new", "old")
    assert not board.learners[0].significant


def test_an_equal_mean_does_not_replace():
    assert not replaces(entry("new", 0.5), entry("old", 0.5))


def test_a_lower_mean_goes_to_the_history():
    (board,) = rank([entry("old", 0.5, date="1"), entry("new", 0.4, date="2")])
    assert ([one.id for one in board.history], board.learners[0].replaced) == (["new"], None)


def test_significant_means_the_intervals_are_apart():
    old = entry("old", 0.50, half=0.02)
    assert is_significant(entry("new", 0.55, half=0.02), old)
    assert not is_significant(entry("new", 0.53, half=0.02), old)


def test_touching_intervals_are_not_significant():
    assert not is_significant(entry("new", ci95=(0.52, 0.6)), entry("old", ci95=(0.48, 0.52)))


def test_a_first_entry_replaces_nothing_and_is_not_significant():
    (board,) = rank([entry()])
    assert (board.learners[0].replaced, board.learners[0].significant) == (None, False)


def test_versions_of_a_task_have_boards_of_their_own():
    assert [board.task for board in rank([entry("a", task="t-v2"), entry("b", task="t-v1")])] == ["t-v1", "t-v2"]
