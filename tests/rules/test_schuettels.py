"""Schüttel's: the rulebook's examples worked by hand, every space, both ends, each numbered reading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rules.core import TABLE, Choice, Refused, Setup, would_change
from rules.registry import GAMES
from rules.schuettels.actions import DoubleShake, EndOn, Shake
from rules.schuettels.deeds import Deposit, Fine, Pass, Place, Remove, Sell, Take, Withdraw, forced
from rules.schuettels.state import HOUSES, PLACES, State
from rules.sheets import Sheet
from tests.rules import drive

GAME = GAMES["schuettels"]
ANNA, BEN, CEM, DORA = range(4)


def table(seats: int = 4, **changed: Any) -> State:
    state: State = drive.start("schuettels", seats, **changed.pop("options", {}))
    houses = dict(state.houses) | changed.pop("houses", {})
    stored = [0] * seats
    supply = list(changed.pop("supply", state.supply))
    board = [
        *[owner for goods in houses.values() for owner in goods],
        *changed.get("tavern", ()),
        *changed.get("bank", ()),
    ]
    for seat in range(seats):
        if supply[seat] == 10:
            supply[seat] -= board.count(seat)
        stored[seat] = 10 - supply[seat] - board.count(seat)
    return replace(state, houses=houses, supply=tuple(supply), stored=tuple(stored), **changed)


def shake(state: State, count: int) -> State:
    return GAME.apply(state, TABLE, Shake(count))


def refused(state: State, who: int, action: Any) -> str:
    with pytest.raises(Refused) as why:
        GAME.apply(state, who, action)
    return why.value.refusal.code


def offered(state: State, who: int, do: str) -> bool:
    return isinstance(GAME.offer(state, who, GAME.actions[do]), Choice)


# --- the rulebook's examples -----------------------------------------------------------------------


def test_two_goods_on_120_and_200_are_sold_for_320() -> None:
    """The example of selling: each good brings what its space said before the gaps closed (reading 5)."""
    before = table(houses={"tailor": (BEN, CEM, BEN, ANNA, ANNA)})  # the tailor's spaces 4 and 5 say 120 and 200
    after = GAME.apply(shake(before, 8), ANNA, Sell((4, 5)))
    assert after.money[ANNA] == 400 + 320
    assert after.houses["tailor"] == (BEN, CEM, BEN)
    assert after.stored[ANNA] == before.stored[ANNA] + 2
    assert after.treasury == before.treasury - 320


def test_eight_gnomes_lead_to_space_8() -> None:
    shaken = shake(table(houses={"tailor": (ANNA,)}), 8)
    assert (shaken.phase, shaken.place, shaken.on_turn) == ("act", "tailor", ANNA)
    assert offered(shaken, ANNA, "place")
    assert offered(shaken, ANNA, "sell")


def test_set_up_gives_ten_goods_and_400_each_and_puts_40_on_the_marketplace() -> None:
    state = table(6)
    assert (state.money, state.supply, state.market) == ((400,) * 6, (10,) * 6, 40)
    assert sum(state.money) + state.market == 2440  # the facts' own sum for six players
    assert state.treasury == 4700 - 2440


# --- unlucky spaces ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 15])
def test_the_pillory_takes_40_to_the_marketplace_and_nobody_decides(count: int) -> None:
    after = shake(table(), count)
    assert (after.money[ANNA], after.market, after.on_turn, after.phase) == (360, 80, BEN, "shake")


def test_the_pig_pit_takes_a_good_of_any_building_and_closes_the_gap() -> None:
    before = table(houses={"forge": (BEN, ANNA, CEM)}, tavern=(ANNA,), bank=(ANNA,))
    shaken = shake(before, 7)
    choice = GAME.offer(shaken, ANNA, Remove)
    assert isinstance(choice, Choice)
    assert choice.fields["good"].among == ("forge.2", "tavern", "bank")  # type: ignore[attr-defined]
    after = GAME.apply(shaken, ANNA, Remove(("forge.2",)))
    assert after.houses["forge"] == (BEN, CEM)
    assert after.stored[ANNA] == 1
    assert after.money == before.money
    assert GAME.apply(shaken, ANNA, Remove(("tavern",))).tavern == ()
    assert GAME.apply(shaken, ANNA, Remove(("bank",))).bank == ()


def test_the_pig_pit_takes_from_the_supply_only_when_no_good_stands_anywhere() -> None:
    after = shake(table(), 7)
    assert (after.supply[ANNA], after.stored[ANNA], after.phase) == (9, 1, "shake")
    assert refused(shake(table(houses={"forge": (ANNA, ANNA)}), 7), ANNA, Remove(("supply",))) == "not_offered"


def test_the_player_chooses_the_space_too_at_the_pig_pit() -> None:
    shaken = shake(table(houses={"forge": (ANNA, BEN, ANNA)}), 7)
    assert GAME.apply(shaken, ANNA, Remove(("forge.1",))).houses["forge"] == (BEN, ANNA)
    assert GAME.apply(shaken, ANNA, Remove(("forge.3",))).houses["forge"] == (ANNA, BEN)


def test_the_pig_pit_finds_nothing_to_take() -> None:
    before = table(supply=(0, 10, 10, 10))
    assert shake(before, 7).on_turn == BEN


# --- crafts houses -----------------------------------------------------------------------------------


def test_placing_moves_every_good_up_one_space() -> None:
    shaken = shake(table(houses={"bakery": (ANNA, BEN)}), 12)
    after = GAME.apply(shaken, ANNA, Place(("bakery",)))
    assert after.houses["bakery"] == (ANNA, ANNA, BEN)
    assert after.supply[ANNA] == shaken.supply[ANNA] - 1


def test_a_good_beyond_the_highest_space_is_stored_unpaid_whoever_owns_it() -> None:
    """Readings 7 and 8."""
    before = table(houses={"bakery": (ANNA, ANNA, BEN, BEN, CEM)})
    after = GAME.apply(shake(before, 12), ANNA, Place(("bakery",)))
    assert after.houses["bakery"] == (ANNA, ANNA, ANNA, BEN, BEN)
    assert after.stored[CEM] == 1
    assert after.money == before.money


def test_the_risky_variant_has_four_spaces_and_takes_four_players() -> None:
    """Reading 24."""
    before = table(houses={"bakery": (ANNA, BEN, BEN, CEM)}, options={"risky": "yes"})
    after = GAME.apply(shake(before, 12), ANNA, Place(("bakery",)))
    assert after.houses["bakery"] == (ANNA, ANNA, BEN, BEN)
    assert after.stored[CEM] == 1
    with pytest.raises(Refused) as why:
        table(5, options={"risky": "yes"})
    assert why.value.refusal.code == "risky_needs_four"


def test_the_side_for_two_or_three_players_has_a_board_of_its_own() -> None:
    assert (table(3).side, table(3).spaces, table(3).storage) == ("small", 4, 22)
    assert (table(4).side, table(4).spaces, table(4).storage) == ("large", 5, 24)


def test_gaps_close_and_the_order_stays() -> None:
    before = table(houses={"forge": (ANNA, BEN, ANNA, CEM, ANNA)})
    after = GAME.apply(shake(before, 6), ANNA, Sell((1, 5)))
    assert after.houses["forge"] == (BEN, ANNA, CEM)
    assert after.money[ANNA] == 400 + 20 + 170


def test_without_supply_one_must_sell_and_with_neither_the_turn_ends() -> None:
    """Reading 6. One good alone is sold without a question."""
    only_good = table(houses={"forge": (ANNA,)}, supply=(0, 10, 10, 10))
    assert shake(only_good, 6).money[ANNA] == 420
    two = shake(table(houses={"forge": (ANNA, ANNA)}, supply=(0, 10, 10, 10)), 6)
    assert refused(two, ANNA, Pass()) == "must_act"
    assert refused(two, ANNA, Place(("forge",))) == "no_supply"
    nothing = table(houses={"bakery": (ANNA,)}, supply=(0, 10, 10, 10))
    assert shake(nothing, 6).on_turn == BEN


def test_selling_happens_only_at_the_shaken_house() -> None:
    """Reading 4."""
    shaken = shake(table(houses={"forge": (ANNA, BEN), "tailor": (ANNA, ANNA)}), 8)
    assert refused(shaken, ANNA, Place(("forge",))) == "not_offered"
    after = GAME.apply(shaken, ANNA, Sell((1, 2)))
    assert after.houses["forge"] == (ANNA, BEN)


# --- lucky spaces --------------------------------------------------------------------------------------


def test_the_fortune_teller_places_at_any_crafts_house_and_never_sells() -> None:
    """Reading 9."""
    shaken = shake(table(houses={"forge": (ANNA,)}), 2)
    for house in HOUSES:
        assert GAME.apply(shaken, ANNA, Place((house,))).houses[house][0] == ANNA
    assert refused(shaken, ANNA, Place(("tavern",))) == "not_offered"
    assert refused(shaken, ANNA, Sell((1,))) == "wrong_place"
    assert shake(table(supply=(0, 10, 10, 10)), 2).on_turn == BEN


def test_the_tavern_pays_by_how_many_goods_stand_there() -> None:
    """Reading 11, both ways; no supply, no payment (reading 10)."""
    before = table(tavern=(BEN, CEM))
    after = shake(before, 10)
    assert after.tavern == (BEN, CEM, ANNA)
    assert after.money == (400 + 3 * 30, 370, 370, 370)
    own = shake(table(tavern=(BEN, CEM), options={"tavern_rank": "own"}), 10)
    assert own.money == (430, 390, 390, 390)
    none = shake(table(tavern=(BEN, ANNA), supply=(0, 10, 10, 10)), 10)
    assert (none.money, none.on_turn) == ((400,) * 4, BEN)


def test_a_good_lost_at_the_tavern_lowers_the_next_payment() -> None:
    lost = GAME.apply(shake(table(tavern=(ANNA, BEN), houses={"forge": (ANNA,)}), 7), ANNA, Remove(("tavern",)))
    assert shake(lost, 10).money[BEN] == 400 + 3 * 20


def test_the_bank_costs_10_to_each_and_pays_30_from_each() -> None:
    """Readings 13 and 14."""
    deposited = shake(table(), 13)
    assert (deposited.bank, deposited.money) == ((ANNA,), (370, 410, 410, 410))
    withdrawn = shake(replace(deposited, on_turn=ANNA), 13)
    assert withdrawn.bank == ()
    assert withdrawn.stored[ANNA] == 1
    assert withdrawn.money == (370 + 90, 380, 380, 380)
    nothing = shake(table(supply=(0, 10, 10, 10)), 13)
    assert (nothing.money, nothing.on_turn) == ((400,) * 4, BEN)


def test_the_marketplace_gives_all_its_bills_and_gets_40_new_ones() -> None:
    """Reading 23."""
    before = table(market=160, treasury=table().treasury - 120)
    after = shake(before, 14)
    assert (after.money[ANNA], after.market, after.treasury) == (560, 40, before.treasury - 40)


# --- money runs out --------------------------------------------------------------------------------------


def test_the_treasury_pays_for_who_is_short() -> None:
    """Reading 17."""
    after = shake(table(money=(10, 400, 400, 790)), 1)
    assert (after.money[ANNA], after.market) == (0, 80)
    assert after.treasury == table().treasury - 30


def test_every_receiver_gets_all_when_one_payer_is_short() -> None:
    """Reading 30."""
    after = shake(table(money=(10, 400, 400, 790)), 13)
    assert after.money == (0, 410, 410, 800)
    assert after.treasury == table().treasury - 20


def test_a_short_payer_at_the_tavern_is_helped_too() -> None:
    after = shake(table(money=(400, 0, 5, 795), tavern=(BEN, BEN)), 10)
    assert after.money == (490, 0, 0, 765)


# --- the shake -----------------------------------------------------------------------------------------


def test_nobody_fell_is_no_shake_or_a_fine() -> None:
    """Reading 1."""
    assert refused(table(), TABLE, Shake(0)) == "nobody_fell"
    fined = shake(table(options={"zero": "fine"}), 0)
    assert (fined.money[ANNA], fined.market, fined.on_turn) == (360, 80, BEN)


@pytest.mark.parametrize("count", [16, -1, "8", None, 8.0, True])
def test_a_count_that_no_cup_holds_is_refused_with_its_limits(count: Any) -> None:
    with pytest.raises(Refused) as why:
        GAME.apply(table(), TABLE, Shake(count))
    refusal = why.value.refusal
    assert (refusal.code, refusal.values["least"], refusal.values["most"]) == ("out_of_range", 0, 15)


def test_a_double_shake_costs_40_and_the_turn_until_the_deed_is_done() -> None:
    """Readings 3 and 27."""
    before = table(houses={"tailor": (ANNA,)})
    for state in (before, shake(before, 8)):
        after = GAME.apply(state, TABLE, DoubleShake())
        assert (after.money[ANNA], after.market, after.on_turn, after.phase) == (360, 80, BEN, "shake")
        assert after.houses == before.houses
    assert refused(before, ANNA, DoubleShake()) == "for_the_table"


def test_all_thirteen_destinations() -> None:
    assert len({PLACES[count] for count in range(1, 16)}) == 13


def test_out_of_turn_and_at_the_wrong_place_is_refused() -> None:
    shaken = shake(table(houses={"tailor": (ANNA,), "forge": (BEN,)}), 8)
    assert refused(shaken, BEN, Place(("tailor",))) == "not_your_turn"
    assert refused(shaken, ANNA, Take()) == "wrong_place"
    assert refused(shaken, ANNA, Sell((2,))) == "not_offered"
    assert refused(shaken, TABLE, Shake(5)) == "not_now"
    assert refused(shake(table(houses={"tailor": (BEN,)}), 2), ANNA, Fine()) == "wrong_place"
    assert refused(shake(table(houses={"tailor": (BEN,)}), 2), ANNA, Deposit()) == "wrong_place"


# --- both ends -----------------------------------------------------------------------------------------


def test_a_full_storage_ends_the_game_at_once() -> None:
    """Reading 20."""
    before = table(supply=(5, 3, 4, 5), houses={"forge": (ANNA, ANNA), "bakery": (BEN,)})
    assert before.storage_free == 4
    before = replace(before, stored=(before.stored[0], before.stored[1], before.stored[2] + 3, before.stored[3]),
                     supply=(5, 3, 1, 5))  # fmt: skip
    after = GAME.apply(shake(before, 6), ANNA, Sell((1,)))
    assert after.end == "storage_full"
    assert GAME.turn(after).movers == frozenset()
    assert refused(after, TABLE, Shake(4)) == "not_now"


def test_the_last_sale_is_paid_in_full_though_the_storage_overflows() -> None:
    """Reading 21: three goods, one space left."""
    before = table(supply=(5, 3, 2, 4), houses={"tailor": (ANNA, ANNA, ANNA)})
    assert before.storage_free == 1
    after = GAME.apply(shake(before, 8), ANNA, Sell((1, 2, 3)))
    assert after.money[ANNA] == 400 + 20 + 40 + 80
    assert after.storage_free == 0
    assert after.end == "storage_full"


def test_two_players_without_goods_end_the_game() -> None:
    """Reading 19, all goods: a good on the board still counts; reading 32: one alone goes on."""
    one_out = table(supply=(0, 0, 10, 10), houses={"forge": (ANNA,)})
    assert one_out.out("all_goods") == (BEN,)
    assert shake(one_out, 6).end == "two_out"  # Anna sells her last good
    assert shake(one_out, 1).end == ""


def test_where_the_supply_counts_two_empty_supplies_end_it() -> None:
    before = table(supply=(1, 0, 10, 10), houses={"forge": (BEN,)}, options={"end_on": "supply"})
    assert shake(before, 12).end == "two_out"
    assert shake(replace(before, end_on="all_goods"), 12).end == ""


def test_the_table_is_asked_once_which_reading_it_plays() -> None:
    before = table(supply=(1, 0, 10, 10), houses={"forge": (BEN,)}, options={"end_on": "ask"})
    asked = shake(before, 12)
    assert asked.phase == "ask_end"
    assert GAME.apply(asked, TABLE, EndOn(("count_supply",))).end == "two_out"
    goes_on = GAME.apply(asked, TABLE, EndOn(("count_all",)))
    assert (goes_on.phase, goes_on.on_turn, goes_on.end_on) == ("shake", BEN, "all_goods")


def test_most_money_wins_and_a_tie_is_shared() -> None:
    """Reading 22."""
    over = replace(table(money=(300, 500, 500, 300)), phase="over", end="storage_full")
    result = GAME.result(over)
    assert result is not None
    assert result.winners == (BEN, CEM)
    assert result.scores == (300, 500, 500, 300)
    assert GAME.result(table()) is None


def test_ends_are_announced_before_they_come() -> None:
    near = table(supply=(4, 4, 4, 4), houses={"forge": (ANNA, BEN, CEM, DORA), "tailor": (ANNA,)})
    assert near.storage_free == 5
    assert [(message.key, message.values["n"]) for message in GAME.view(near)["soon"]] == [("storage_left", 5)]  # type: ignore[union-attr]
    low = table(supply=(0, 1, 10, 10))
    keys = [message.key for message in GAME.view(low)["soon"]]  # type: ignore[union-attr]
    assert keys == ["storage_left", "no_goods_left", "goods_left"]


# --- a real box: values nobody has entered yet -----------------------------------------------------------


def real_table(seats: int, **changed: Any) -> State:
    known = drive.sheet("schuettels").trusted()
    return replace(table(seats, **changed), sheet=known)


def test_only_reported_and_printed_values_are_known_at_a_real_table() -> None:
    known = drive.sheet("schuettels").trusted()
    assert known.values == {"large.spaces": 5, "large.carpenter.1": 80, "large.carpenter.2": 120}


def test_a_sale_asks_what_its_space_says_once_and_the_storage_too() -> None:
    state = shake(real_table(4, houses={"forge": (BEN, ANNA)}), 6)
    assert refused(state, ANNA, Sell((2,))) == "say_first"
    says = {"large.forge.2": 60, "large.storage": 20}
    after = GAME.apply(state, ANNA, Sell((2,), says))
    assert (after.money[ANNA], after.storage) == (460, 20)
    assert GAME.learned(after).sources["large.forge.2"] == "printed"
    again = shake(replace(after, on_turn=BEN, houses={**after.houses, "forge": (CEM, BEN)}), 6)
    assert GAME.apply(again, BEN, Sell((2,))).money[BEN] == 460
    assert refused(state, ANNA, Sell((2,), {"large.forge.2": 65, "large.storage": 20})) == "out_of_step"


def test_the_number_of_spaces_is_asked_only_where_a_fifth_good_would_be_placed() -> None:
    three = real_table(3, houses={"forge": (ANNA, BEN, CEM)})
    assert GAME.apply(shake(three, 6), ANNA, Place(("forge",))).houses["forge"] == (ANNA, ANNA, BEN, CEM)
    four = shake(real_table(3, houses={"forge": (ANNA, BEN, CEM, CEM)}), 6)
    assert refused(four, ANNA, Place(("forge",))) == "say_first"
    grown = GAME.apply(four, ANNA, Place(("forge",), {"small.spaces": 5}))
    assert len(grown.houses["forge"]) == 5
    assert refused(four, ANNA, Place(("forge",), {"small.spaces": 4})) == "say_first"  # now the storage matters
    pushed = GAME.apply(four, ANNA, Place(("forge",), {"small.spaces": 4, "small.storage": 15}))
    assert pushed.stored[CEM] == 1


def test_taking_back_from_the_bank_asks_for_the_storage_and_waits() -> None:
    state = shake(real_table(4, bank=(ANNA,)), 13)
    assert (state.phase, state.place) == ("act", "bank")
    assert forced(state) is None
    after = GAME.apply(state, ANNA, Withdraw({"large.storage": 30}))
    assert (after.storage, after.money[ANNA]) == (30, 490)


# --- mending --------------------------------------------------------------------------------------------


def mend(state: State, **facts: int) -> State:
    action = GAME.actions["mend"](facts={name.replace("__", "."): n for name, n in facts.items()}, reason="forgotten")  # type: ignore[call-arg]
    return GAME.apply(state, TABLE, action)


def test_a_mend_sets_money_and_the_treasury_takes_the_difference() -> None:
    after = mend(table(), money__0=500, market=80)
    assert (after.money[ANNA], after.market) == (500, 80)
    assert sum(after.money) + after.market + after.treasury == 4700


def test_a_mended_good_leaves_its_place_for_the_storage() -> None:
    before = table(houses={"forge": (ANNA, BEN)})
    after = mend(before, forge__0=0)
    assert (after.houses["forge"], after.stored[ANNA]) == ((BEN,), 1)
    with pytest.raises(Refused) as why:
        mend(before, supply__0=10)
    assert why.value.refusal.code == "goods_do_not_add_up"


def test_a_mend_sets_whose_turn_it_is_and_what_was_shaken() -> None:
    after = mend(table(houses={"tailor": (CEM, CEM)}), turn=CEM, shaken=8)
    assert (after.phase, after.on_turn, after.place) == ("act", CEM, "tailor")


def test_allow_it_this_once_fills_the_mend_with_what_the_refused_deed_would_have_changed() -> None:
    state = shake(table(houses={"tailor": (ANNA,), "forge": (ANNA, BEN)}), 8)
    facts = would_change(GAME, state, ANNA, Place(("bakery",)))
    assert facts["bakery.0"] == 1
    assert facts["supply.0"] == state.supply[ANNA] - 1
    assert GAME.apply(state, TABLE, GAME.actions["mend"](facts=facts)).houses["bakery"] == (ANNA,)  # type: ignore[call-arg]
    assert would_change(GAME, state, ANNA, Place(("castle",))) == {}


@pytest.mark.parametrize(
    ("count", "deed"),
    [
        (8, Sell((0,))),  # no such space
        (8, Sell((1, 1))),  # the same good twice
        (8, Place(("tailor", "tailor"))),
        (2, Place(())),
        (7, Remove(("forge.0",))),
        (7, Remove(("supply",))),  # a good that is not there
    ],
)
def test_allow_it_this_once_proposes_nothing_that_cannot_be(count: int, deed: Any) -> None:
    state = shake(table(houses={"tailor": (ANNA, BEN), "forge": (ANNA, ANNA)}, supply=(0, 10, 10, 10)), count)
    facts = would_change(GAME, state, ANNA, deed)
    mended = GAME.mended(state, facts)
    assert sum(mended.money) + mended.market + mended.treasury == 4700
    assert not facts or mended != state


@pytest.mark.parametrize("count", [-1, 16, 10**40])
def test_a_shake_of_gnomes_that_are_not_there_proposes_no_mend(count: int) -> None:
    assert would_change(GAME, table(), TABLE, Shake(count)) == {}


def test_a_mend_that_empties_two_supplies_asks_and_the_shaken_place_is_still_acted_at() -> None:
    before = table(houses={"tailor": (ANNA, BEN)}, options={"end_on": "ask"})
    asked = mend(before, supply__0=0, supply__1=0, storage__0=9, storage__1=9, shaken=8)
    assert asked.phase == "ask_end"
    after = GAME.apply(asked, TABLE, EndOn(("count_all",)))
    assert (after.phase, after.place) == ("act", "tailor")


def test_a_mend_lays_a_whole_house_in_its_order() -> None:
    after = mend(table(), **{"forge/1": BEN, "forge/2": ANNA, "forge/3": BEN, "supply__0": 9, "supply__1": 8})
    assert after.houses["forge"] == (BEN, ANNA, BEN)
    with pytest.raises(Refused):
        mend(table(), **{"forge/1": BEN, "forge__1": 2})


def test_a_mend_takes_no_more_goods_than_a_house_has_spaces() -> None:
    with pytest.raises(Refused) as why:
        mend(real_table(3), supply__0=1, forge__0=9)
    assert (why.value.refusal.code, why.value.refusal.values["n"]) == ("house_too_full", 8)


def test_a_mend_of_the_tavern_leaves_it_as_the_deed_would() -> None:
    before = table(tavern=(BEN,))
    assert mend(before, tavern__0=1, supply__0=9).tavern == shake(before, 10).tavern


def test_a_value_read_wrongly_off_the_board_is_put_right_by_a_mend() -> None:
    after = mend(table(), large__forge__2=70)
    assert after.value("forge", 2) == 70
    assert GAME.learned(after).sources["large.forge.2"] == "printed"
    with pytest.raises(Refused) as why:
        mend(table(), large__forge__2=75)
    assert (why.value.refusal.code, why.value.refusal.values["field"]) == ("out_of_step", "large.forge.2")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("large.spaces", 0, "sheet_value"),
        ("large.storage", 10**10, "sheet_value"),
        ("large.forge.1", 5, "sheet_value"),
        ("large.castle.1", 10, "no_such_sheet_value"),
    ],
)
def test_a_sheet_that_no_board_says_is_refused(name: str, value: int, code: str) -> None:
    with pytest.raises(Refused) as why:
        GAME.start(Setup(4, sheet=Sheet({name: value}, {name: "printed"})))
    assert (why.value.refusal.code, why.value.refusal.values["name"]) == (code, name)


def test_a_first_seat_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused) as why:
        GAME.start(Setup(3, first=3, sheet=Sheet()))
    assert why.value.refusal.code == "no_such_seat"


def test_pushing_out_a_good_of_the_first_seat_asks_for_the_storage_like_any_other() -> None:
    state = shake(real_table(4, houses={"forge": (BEN, BEN, CEM, CEM, ANNA)}), 6)
    assert refused(state, ANNA, Place(("forge",))) == "say_first"
    after = GAME.apply(state, ANNA, Place(("forge",), {"large.storage": 20}))
    assert after.stored[ANNA] == 1
