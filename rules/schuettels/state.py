"""The state of a game of Schüttel's, as verbs: small methods named by the rulebook, each returning a new state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rules.messages import Seat
from rules.sheets import Sheet

GNOMES = 15
GOODS = 10
START_MONEY = 400
FINE = 40
"""What the pillory and a double shake cost, and what lies on the marketplace after it was emptied."""
DEPOSIT_FEE = 10
WITHDRAWAL_GAIN = 30
TAVERN_STEP = 10
BILLS = 4700
"""All bills of the box: 18 x 10, 18 x 20, 14 x 40, 12 x 50, 14 x 100, 8 x 200."""

HOUSES: Mapping[str, int] = {
    "pharmacy": 4,
    "pottery": 5,
    "forge": 6,
    "tailor": 8,
    "jewelry": 9,
    "carpenter": 11,
    "bakery": 12,
}
"""The crafts houses by their house number."""

PLACES: Mapping[int, str] = {
    **{number: house for house, number in HOUSES.items()},
    **dict.fromkeys((1, 3, 15), "pillory"),
    2: "tent",
    7: "pigpit",
    10: "tavern",
    13: "bank",
    14: "market",
}
FEWEST_SPACES = 4
"""No side has fewer goods spaces a house: below it nothing can be pushed out, and the number need not be known."""


@dataclass(frozen=True, slots=True)
class State:
    """What the table shows.

    `houses` holds the goods of each crafts house by their owner, lowest space first, without gaps (reading 8);
    `stored` counts each seat's goods that left the game, on storage spaces or beyond them (reading 21); `treasury` may
    fall below what bills it has (reading 18).
    """

    seats: int
    side: str
    risky: bool
    zero: str
    tavern_rank: str
    end_on: str
    sheet: Sheet
    phase: str
    on_turn: Seat
    shaken: int
    money: tuple[int, ...]
    market: int
    treasury: int
    supply: tuple[int, ...]
    houses: Mapping[str, tuple[Seat, ...]]
    tavern: tuple[Seat, ...]
    bank: tuple[Seat, ...]
    stored: tuple[int, ...]
    end: str = ""

    # --- what the table shows ------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Return the place of the shaken number; nobody fell counts as the pillory where that costs (reading 1)."""
        return PLACES[self.shaken or 1]

    @property
    def spaces(self) -> int | None:
        """Return how many goods spaces a crafts house has, None where this box has not told it yet."""
        spaces = self.sheet.get(f"{self.side}.spaces")
        return spaces - 1 if spaces is not None and self.risky else spaces  # reading 24: the top ones are not there

    @property
    def storage(self) -> int | None:
        """Return how many storage spaces the board has, None where this box has not told it yet."""
        return self.sheet.get(f"{self.side}.storage")

    @property
    def storage_free(self) -> int | None:
        """Return how many storage spaces are left."""
        return None if self.storage is None else max(0, self.storage - sum(self.stored))

    def value_name(self, house: str, space: int) -> str:
        """Return the name under which the sheet holds this goods space's value."""
        return f"{self.side}.{house}.{space}"

    def value(self, house: str, space: int) -> int | None:
        """Return what a good on this space earns, None where this box has not told it yet."""
        return self.sheet.get(self.value_name(house, space))

    def own_spaces(self, seat: Seat, house: str) -> tuple[int, ...]:
        """Return the spaces of a house on which this seat's goods stand, lowest first."""
        return tuple(space for space, owner in enumerate(self.houses[house], 1) if owner == seat)

    def on_board(self, seat: Seat) -> int:
        """Return how many goods of this seat stand at any building."""
        standing = sum(goods.count(seat) for goods in self.houses.values())
        return standing + self.tavern.count(seat) + self.bank.count(seat)

    # --- money ----------------------------------------------------------------------------------

    def settle(self, amounts: Mapping[Seat, int]) -> State:
        """Give each seat its amount, take it where it is below 0; the treasury adds what a seat is short (reading 17).

        So every receiver gets all, whoever was short (reading 30).
        """
        wanted = [amount + amounts.get(seat, 0) for seat, amount in enumerate(self.money)]
        short = -sum(amount for amount in wanted if amount < 0)
        money = tuple(max(0, amount) for amount in wanted)
        return replace(self, money=money, treasury=self.treasury - short)

    def pay_market(self, payer: Seat) -> State:
        """Pay the fine onto the marketplace."""
        return replace(self.settle({payer: -FINE}), market=self.market + FINE)

    def take_market(self, seat: Seat) -> State:
        """Take all bills of the marketplace; the treasury puts new ones there (reading 23)."""
        return replace(self.settle({seat: self.market}), market=FINE, treasury=self.treasury - FINE)

    def pay_others(self, payer: Seat, each: int) -> State:
        """Pay every other seat."""
        return self.settle(dict.fromkeys(range(self.seats), each) | {payer: -each * (self.seats - 1)})

    def collect(self, seat: Seat, each: int) -> State:
        """Take an amount from every other seat."""
        return self.settle(dict.fromkeys(range(self.seats), -each) | {seat: each * (self.seats - 1)})

    def sold_for(self, seat: Seat, amount: int) -> State:
        """Give a seat the price of its goods from the treasury."""
        return replace(self.settle({seat: amount}), treasury=self.treasury - amount)

    # --- goods ----------------------------------------------------------------------------------

    def place_good(self, seat: Seat, house: str) -> State:
        """Put a good on the lowest space; the others move up, one beyond the highest is stored unpaid (reading 7)."""
        goods = (seat, *self.houses[house])
        state = self._from_supply(seat)
        if self.spaces is not None and len(goods) > self.spaces:
            state = state.store(goods[-1])
            goods = goods[:-1]
        return state._house(house, goods)

    def pushes_out(self, house: str) -> Seat | None:
        """Return whose good a placement would push out, None where it pushes nothing out or the spaces are unknown."""
        goods = self.houses[house]
        return goods[-1] if self.spaces is not None and len(goods) >= self.spaces else None

    def take_goods(self, house: str, spaces: tuple[int, ...]) -> State:
        """Store the goods of these spaces and close the gaps, keeping the order (reading 16)."""
        goods = self.houses[house]
        state = self._house(house, tuple(owner for space, owner in enumerate(goods, 1) if space not in spaces))
        for space in spaces:
            state = state.store(goods[space - 1])
        return state

    def stand_at(self, building: str, seat: Seat) -> State:
        """Put a good of the supply at the tavern or the bank."""
        standing = self.tavern if building == "tavern" else self.bank
        return self._from_supply(seat)._standing(building, (*standing, seat))

    def leave(self, building: str, seat: Seat) -> State:
        """Store a good of the tavern, the bank or the supply."""
        if building == "supply":
            return self._from_supply(seat).store(seat)
        standing: tuple[Seat, ...] = self.tavern if building == "tavern" else self.bank
        at = standing.index(seat)
        return self.store(seat)._standing(building, (*standing[:at], *standing[at + 1 :]))

    def store(self, owner: Seat) -> State:
        """Put a good on a storage space, or away where none is left (reading 21)."""
        return replace(self, stored=_with(self.stored, owner, self.stored[owner] + 1))

    def _from_supply(self, seat: Seat) -> State:
        return replace(self, supply=_with(self.supply, seat, self.supply[seat] - 1))

    def _standing(self, building: str, goods: tuple[Seat, ...]) -> State:
        return replace(self, tavern=goods) if building == "tavern" else replace(self, bank=goods)

    def _house(self, house: str, goods: tuple[Seat, ...]) -> State:
        return replace(self, houses={**self.houses, house: goods})

    # --- turns and ends -------------------------------------------------------------------------

    def told(self, says: Mapping[str, int]) -> State:
        """Keep the values that were read off this box."""
        return replace(self, sheet=self.sheet.told(says)) if says else self

    def shake_out(self, count: int) -> State:
        """Let the seat on turn act at the place of this number."""
        return replace(self, shaken=count, phase="act")

    def finish(self) -> State:
        """End the turn, and the game where it ends now: as soon as, no equalising turns (reading 20)."""
        return replace(self, on_turn=(self.on_turn + 1) % self.seats, shaken=0, phase="shake").check_end()

    def read_end(self, reading: str) -> State:
        """Keep which goods count for "no goods left" at this table (reading 19)."""
        return replace(self, end_on=reading, phase="act" if self.shaken else "shake").check_end()

    def check_end(self) -> State:
        """End the game where an end is reached; ask the table where reading 19 decides and nobody has said.

        So before any deed a storage space is free, and only a sale of several goods can take more than there are
        (reading 29).
        """
        if self.storage_free == 0:
            return replace(self, phase="over", end="storage_full")
        if len(self.out("all_goods")) >= 2 or (self.end_on == "supply" and len(self.out("supply")) >= 2):
            return replace(self, phase="over", end="two_out")
        if self.end_on == "ask" and len(self.out("supply")) >= 2:
            return replace(self, phase="ask_end")
        return self

    def out(self, reading: str) -> tuple[Seat, ...]:
        """Return who has no goods left: in the supply alone, or on the board as well (readings 19 and 32)."""
        empty = (seat for seat in range(self.seats) if not self.supply[seat])
        return tuple(seat for seat in empty if reading == "supply" or not self.on_board(seat))


def _with(numbers: tuple[int, ...], at: int, number: int) -> tuple[int, ...]:
    return (*numbers[:at], number, *numbers[at + 1 :])
