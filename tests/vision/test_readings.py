from hypothesis import given
from hypothesis import strategies as st

from vision.readings import FLOOR, SURE, Box, GnomeReading, normalised


def reading(likelihood: tuple[float, ...]) -> GnomeReading:
    return GnomeReading(likelihood, {}, (), Box(0, 0, 1, 1), 0)


@given(st.lists(st.floats(0, 1e6), min_size=16, max_size=16))
def test_a_likelihood_sums_to_one_and_calls_nothing_impossible(weights: list[float]) -> None:
    likelihood = normalised(weights)
    assert abs(sum(likelihood) - 1) < 1e-9
    assert min(likelihood) >= FLOOR * 0.999


@given(st.integers(0, 15))
def test_the_count_is_the_likeliest_and_sure_when_little_else_is_likely(count: int) -> None:
    weights = [0.0] * 16
    weights[count] = 1.0
    certain = reading(normalised(weights))
    assert (certain.count, certain.sure) == (count, True)
    weights[(count + 1) % 16] = 1.0
    torn = reading(normalised(weights))
    assert not torn.sure
    assert torn.confidence < SURE
