"""What a page of Schüttel's draws: plain facts from a seen state, and the countable facts a mend may set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rules.core import Fact
from rules.messages import Message, Money, Noun, Refusal, Refused, Seat, Value, Who
from rules.schuettels import asks
from rules.schuettels.state import GNOMES, GOODS, HOUSES, State

MOST_MONEY = 9990
STORAGE_WARNING, GOODS_WARNING = 5, 2


def view(seen: State) -> dict[str, Value]:
    """Return the facts a page draws."""
    return {
        "phase": seen.phase,
        "on_turn": Who(seen.on_turn),
        "shaken": seen.shaken,
        "place": Noun(seen.place) if seen.phase == "act" else None,
        "market": Money(seen.market),
        "seats": tuple(_seat(seen, seat) for seat in range(seen.seats)),
        "houses": tuple(_house(seen, house) for house in HOUSES),
        "tavern": tuple(map(Who, seen.tavern)),
        "bank": tuple(map(Who, seen.bank)),
        "storage": {"taken": sum(seen.stored), "spaces": seen.storage, "free": seen.storage_free, "of": seen.stored},
        "soon": tuple(_soon(seen)),
    }


def _seat(seen: State, seat: Seat) -> dict[str, Value]:
    return {
        "who": Who(seat),
        "money": Money(seen.money[seat]),
        "supply": seen.supply[seat],
        "on_board": seen.on_board(seat),
        "stored": seen.stored[seat],
    }


def _house(seen: State, house: str) -> dict[str, Value]:
    goods = seen.houses[house]
    told = (space for space in range(1, asks.MOST_SPACES + 1) if seen.value(house, space) is not None)
    spaces = seen.spaces or max(len(goods), *told, 0)
    return {
        "house": Noun(house),
        "number": HOUSES[house],
        "full": seen.spaces is not None and len(goods) >= seen.spaces,
        "spaces": tuple(_space(seen, house, space) for space in range(1, spaces + 1)),
    }


def _space(seen: State, house: str, space: int) -> dict[str, Value]:
    goods, value = seen.houses[house], seen.value(house, space)
    return {
        "space": space,
        "value": None if value is None else Money(value),
        "source": seen.sheet.sources.get(seen.value_name(house, space)),
        "good": Who(goods[space - 1]) if space <= len(goods) else None,
    }


def _soon(seen: State) -> Iterator[Message]:
    """Announce the ends before they come; where reading 19 is still to be asked, the one that may come earlier."""
    if seen.phase == "over":
        return
    if seen.storage_free is not None and 0 < seen.storage_free <= STORAGE_WARNING:
        yield Message("storage_left", {"n": seen.storage_free})
    reading = "all_goods" if seen.end_on == "all_goods" else "supply"
    if not seen.out(reading):
        return
    yield Message("no_goods_left", {"who": tuple(map(Who, seen.out(reading)))})
    for seat in range(seen.seats):
        left = seen.supply[seat] + (seen.on_board(seat) if reading == "all_goods" else 0)
        if 0 < left <= GOODS_WARNING:
            yield Message("goods_left", {"who": Who(seat), "n": left})


def facts(state: State) -> dict[str, Fact]:
    """Return every countable fact: bills, goods by place and owner, their order, the turn, the shake, the board."""
    parts = (_money(state), _goods(state), _rows(state), _turn(state), _board(state))
    return {name: fact for part in parts for name, fact in part}


def _money(state: State) -> Iterator[tuple[str, Fact]]:
    for seat, amount in enumerate(state.money):
        yield f"money.{seat}", Fact(amount, 0, MOST_MONEY, Noun("money"), whose=seat, step=10)
    yield "market", Fact(state.market, 0, MOST_MONEY, Noun("money"), Noun("market"), step=10)


def _goods(state: State) -> Iterator[tuple[str, Fact]]:
    for seat in range(state.seats):
        standing = {house: state.houses[house].count(seat) for house in HOUSES}
        standing |= {"tavern": state.tavern.count(seat), "bank": state.bank.count(seat)}
        standing |= {"supply": state.supply[seat], "storage": state.stored[seat]}
        for where, n in standing.items():
            most = 1 if where == "bank" else GOODS
            yield f"{where}.{seat}", Fact(n, 0, most, Noun("goods"), Noun(where), seat)


def _rows(state: State) -> Iterator[tuple[str, Fact]]:
    """Whose good stands on each space; the number after the last seat's is nobody."""
    for house, goods in state.houses.items():
        for space in range(1, _most_spaces(state) + 1):
            owner = goods[space - 1] if space <= len(goods) else None
            value = state.seats if owner is None else owner
            yield f"{house}/{space}", Fact(value, 0, state.seats, Noun("marker"), Noun(house), owner, at=space)


def _turn(state: State) -> Iterator[tuple[str, Fact]]:
    yield "turn", Fact(state.on_turn, 0, state.seats - 1, Noun("marker"), Noun("turn"), state.on_turn, on_table=False)
    yield "shaken", Fact(state.shaken, 0, GNOMES, Noun("shaken"), Noun("shaken"), on_table=False)


def _board(state: State) -> Iterator[tuple[str, Fact]]:
    for name, limits in asks.LIMITS.items():
        value = state.sheet.get(name)
        if name.startswith(state.side) and value is not None:
            what, step = Noun("printed"), limits.step
            yield name, Fact(value, limits.least, limits.most, what, Noun("board"), step=step, on_table=False)


def _most_spaces(state: State) -> int:
    return asks.MOST_SPACES - state.risky if state.spaces is None else state.spaces


def mended(state: State, facts: Mapping[str, int]) -> State:
    """Return the state with these facts in place: what is not spoken of stays, the storage takes the difference.

    Raises Refused where a seat would have more than its ten goods, a house more than its spaces, or the numbers of a
    house's goods and their order disagree.
    """
    printed = {name: n for name, n in facts.items() if name in asks.LIMITS and state.sheet.get(name) != n}
    state = _mend_goods(_mend_money(state.told(printed), facts), facts)
    shaken, on_turn = facts.get("shaken", state.shaken), facts.get("turn", state.on_turn)
    phase = "act" if shaken else "shake"
    return replace(state, shaken=shaken, on_turn=on_turn, phase=phase, end="").check_end()


def _mend_money(state: State, facts: Mapping[str, int]) -> State:
    money = tuple(facts.get(f"money.{seat}", amount) for seat, amount in enumerate(state.money))
    market = facts.get("market", state.market)
    treasury = state.treasury + sum(state.money) + state.market - sum(money) - market
    return replace(state, money=money, market=market, treasury=treasury)


def _mend_goods(state: State, facts: Mapping[str, int]) -> State:
    seats = range(state.seats)
    houses = {house: _mend_house(state, house, facts) for house in state.houses}
    tavern, bank = _newest_last(state, "tavern", facts), _newest_last(state, "bank", facts)
    supply = tuple(facts.get(f"supply.{seat}", state.supply[seat]) for seat in seats)
    new = replace(state, houses=houses, tavern=tavern, bank=bank, supply=supply)
    stored = tuple(GOODS - supply[seat] - new.on_board(seat) for seat in seats)
    for seat in seats:
        if stored[seat] != facts.get(f"storage.{seat}", max(0, stored[seat])):
            raise Refused(Refusal("goods_do_not_add_up", "Before every game", {"who": Who(seat), "n": GOODS}))
    return replace(new, stored=stored)


def _mend_house(state: State, house: str, facts: Mapping[str, int]) -> tuple[Seat, ...]:
    """Return a house's goods: as their order says where it is given, else with goods taken and added as a turn does."""
    row = _row(state.houses[house], house, state.seats, facts)
    if any(f"{house}/{space}" in facts for space in range(1, asks.MOST_SPACES + 1)):
        ordered = _ordered(state, house, facts)
        said = (seat for seat in range(state.seats) if f"{house}.{seat}" in facts)
        if any(ordered.count(seat) != row.count(seat) for seat in said):
            raise Refused(Refusal("goods_do_not_add_up", "Place a good", {"where": Noun(house), "n": len(row)}))
        row = ordered
    if len(row) > _most_spaces(state):
        raise Refused(Refusal("house_too_full", "Place a good", {"where": Noun(house), "n": _most_spaces(state)}))
    return row


def _ordered(state: State, house: str, facts: Mapping[str, int]) -> tuple[Seat, ...]:
    goods = state.houses[house]
    stands = dict(enumerate(goods, 1))
    spaces = range(1, max(_most_spaces(state), len(goods)) + 1)
    owners = (facts.get(f"{house}/{space}", stands.get(space, state.seats)) for space in spaces)
    return tuple(owner for owner in owners if owner < state.seats)


def _newest_last(state: State, where: str, facts: Mapping[str, int]) -> tuple[Seat, ...]:
    standing = state.tavern if where == "tavern" else state.bank
    return _row(standing[::-1], where, state.seats, facts)[::-1]


def _row(row: tuple[Seat, ...], where: str, seats: int, goods: Mapping[str, int]) -> tuple[Seat, ...]:
    """Take away from the far end, add at the near one."""
    for seat in range(seats):
        n = goods.get(f"{where}.{seat}", row.count(seat))
        while row.count(seat) > n:
            at = len(row) - 1 - row[::-1].index(seat)
            row = (*row[:at], *row[at + 1 :])
        row = (seat,) * (n - row.count(seat)) + row
    return row
