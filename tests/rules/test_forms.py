"""Fields: what they draw, they hold; what has one answer, they know."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rules.forms import Amounts, Assign, Count, Field, Order, Pick, Text, Values

NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1).map(tuple)


@st.composite
def form_fields(draw: st.DrawFn) -> Field:
    names = draw(NAMES)
    low, extra = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    least = draw(st.integers(0, len(names)))
    cells = {name: draw(st.integers(0, 4)) for name in names}
    fewest = draw(st.integers(0, sum(cells.values())))
    return draw(
        st.sampled_from(
            [
                Pick(names, least, draw(st.integers(least, len(names)))),
                Count(low, low + extra, draw(st.integers(1, 3))),
                Amounts({"row": cells}, {"row": (fewest, draw(st.integers(fewest, 40)))}),
                Assign(names[:least], names),
                Order(names),
                Values({name: Count(0, limit) for name, limit in cells.items()}),
                Text(),
            ]
        )
    )


@given(form_fields(), st.integers())
def test_a_field_holds_what_it_draws(field: Field, seed: int) -> None:
    assert field.holds(field.sample(Random(seed)))


@given(form_fields(), st.integers())
def test_the_sole_answer_is_the_only_one_ever_drawn(field: Field, seed: int) -> None:
    for value in field.sole:
        assert field.holds(value)
        assert field.sample(Random(seed)) == value


@given(
    form_fields(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    ),
)
def test_no_value_whatever_makes_a_field_fall_over(field: Field, value: object) -> None:
    assert field.holds(value) in (True, False)
