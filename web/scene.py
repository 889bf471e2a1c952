"""Everything the regions of a game draw, for one kind of eyes: made from the seen table, in words, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from companion.entries import Depth, SeatPlan
from companion.proposal import Proposal
from companion.snapshot import Snapshot
from companion.view import Seen, seen
from rules.core import TABLE, Message, Money, Noun, Seat, Who
from web import answers
from web.drawing import bare_mark, drawn
from web.fields import thing
from web.options import Option
from web.shapes import mark
from web.sights import Sight
from web.speech import Speech

LOG_LINES = 60
MONEY_MOVES = frozenset(f"move_{what}_{way}" for what in ("money", "bank") for way in ("more", "less"))
PAYS = "move_money_less"
TURN_MOVES = "move_marker"
"""What moves on the tablet alone: whose turn it is, which good stands where in its row."""
ASKS_KEEP_SURE = "offer_keep_sure"


class Scene:
    """Builds the context of the regions' template. One use: one snapshot, one kind of eyes."""

    def __init__(
        self,
        snapshot: Snapshot,
        sight: Sight,
        speech: Speech,
        crop: Callable[[str], bytes | None],
        *,
        can_shake: bool = False,
        carry_out_s: float = 3.0,
    ) -> None:
        self.snapshot, self.sight, self.speech = snapshot, sight, speech
        self.seen: Seen = seen(snapshot, sight.eyes)
        self._crop = crop
        self._can_shake, self._carry_out_s = can_shake, carry_out_s
        self._proposal = snapshot.proposal
        self._asked = None if self._rests else answers.counting(self.seen)
        self._counted = self._read_off(self._proposal)

    def _read_off(self, proposal: Proposal | None) -> answers.Counted | None:
        if proposal is None or self.seen.open or self._rests:
            return None
        return answers.read_off(self.seen, proposal, self.sight, self._bots())

    def context(self) -> dict[str, Any]:
        """Return the names that the template knows."""
        return {**self._words(), **self._table(), **self._answer(), **self._bar(), **self._beside_the_rules()}

    def _beside_the_rules(self) -> dict[str, Any]:
        return {"rests": self._rests, "only_score": self._score_sheet(), "only_count": self._only_count()}

    # --- words ------------------------------------------------------------------------------------

    def _words(self) -> dict[str, Any]:
        speech = self.speech
        return {
            "t": speech.text,
            "say": speech.say,
            "noun": speech.noun,
            "phase": speech.phase,
            "noun_of": Noun,
            "plain": speech.value,
            "is_list": lambda value: isinstance(value, tuple | list),
            "mark": mark,
            "bare_mark": bare_mark,
            "say_do": self.label,
            "say_beside": self.label_beside,
            "say_deed": lambda option: speech.do(_deed(option)) if option.tells else self.label(option),
            "say_do_key": lambda do: speech.do(Message(do)),
            "lines_of": self.lines,
            "lines_beside": self.lines_beside,
            "option_id": option_id,
            "names_of": lambda seats: speech.value(tuple(Who(seat) for seat in seats)),
            "messages_in": answers.nested,
        }

    def label(self, option: Option) -> str:
        """Name an option by what it decides: the thing it picks, else what is done, or the count it accepts."""
        if option.asks:
            return self.speech.do(Message(option.do))
        if option.tells is None:
            numbers = [one for one in option.gesture[-1]["action"].values() if isinstance(one, int)]
            return self.speech.text("keep_count", count=numbers[0])
        if len(option.picks) == 1 and option.is_one_of_several:
            return thing(option.picks[0].partition("=")[2], self.speech)
        return self.speech.do(_deed(option))

    def label_beside(self, option: Option) -> str:
        """Name an option beside the likeliest count: with what is done, for nothing else says so there."""
        if option.tells is None or not option.is_one_of_several:
            return self.label(option)
        return self.speech.text("deed_on", deed=self.speech.do(_deed(option)), what=self.label(option))

    def lines(self, option: Option) -> list[str]:
        """Return the small lines under an option: what it earns or costs, whom else it touches, what it pushes out."""
        speech = self.speech
        picked = [speech.text("picked", n=len(option.picks))] if len(option.picks) > 1 else []
        if len(option.picks) == 1 and option.is_one_of_several and option.who != TABLE:
            picked = [speech.do(_deed(option))]
        amounts = self._amounts(option)
        deed = None if option.tells is None else _deed(option).values.get("then")
        follows = [speech.say(deed)] if isinstance(deed, Message) else []
        return [line for line in (" · ".join([*picked, *amounts]), *follows) if line]

    def lines_beside(self, option: Option) -> list[str]:
        """Return the small lines of an option beside the likeliest count, where there is little room."""
        if option.tells is None:
            return []
        then = _deed(option).values.get("then")
        touched = then.values.get("who") if isinstance(then, Message) else None
        also = [self.speech.text("also_touches", who=touched)] if isinstance(touched, Who) else []
        amounts = self._amounts(option)
        return ([" · ".join(amounts)] if amounts else []) + also

    def _amounts(self, option: Option) -> list[str]:
        """Return what the one who acts gains or pays, and what the others do: in one word where it is the same."""
        own, others = _shares(option)
        words = [self._amount("", own)] if own else []
        if len(others) > 1 and len(set(others.values())) == 1 and len(others) == len(self._seats()) - 1:
            return [*words, self._amount("all_others_", next(iter(others.values())))]
        return words + [self._amount("other_", change, who=Who(seat)) for seat, change in others.items()]

    def _amount(self, whose: str, change: int, **who: Who) -> str:
        return self.speech.text(f"{whose}{'gains' if change > 0 else 'pays'}", money=Money(abs(change)), **who)

    # --- the table --------------------------------------------------------------------------------

    def _table(self) -> dict[str, Any]:
        seen, snapshot = self.seen, self.snapshot
        soon = seen.facts.get("soon")
        return {
            "sight": self.sight,
            "title": seen.game.title if seen.game else "",
            "acts_for_table": self.sight.acts_for(TABLE),
            "seats": self._seats(),
            "asks": answers.asks(seen),
            "view": seen.facts,
            "turn": seen.turn,
            "on_turn": () if self._rests else self._on_turn(),
            "soon": [self.speech.say(one) for one in soon if isinstance(one, Message)]
            if isinstance(soon, tuple)
            else [],
            "result": seen.result,
            "scored": seen.scored,
            "scores": seen.scored.scores if seen.scored else (),
            "ranked": sorted(range(len(self._seats())), key=lambda seat: -_score(seen, seat)),
            "questions": len(seen.open) + self._contradicts + sum(one["asks"] for one in self._notices()),
            "notices": self._notices(),
            "troubles": [self.speech.health(device) for device in snapshot.devices if not device.ok],
            "log": tuple(reversed(seen.log))[:LOG_LINES],
            "open": seen.open,
            "is_missing": self._misses_a_deed(),
            "about": self._about(),
            "moves": self._moves(),
        }

    def _about(self) -> tuple[Seat, ...]:
        """Return whom the first step is about that a correction left open."""
        if not self.seen.open:
            return ()
        first = self.seen.open[0]
        who = first.message.values.get("who")
        return (first.who,) if first.who != TABLE else (who.seat,) if isinstance(who, Who) else ()

    def _misses_a_deed(self) -> bool:
        """Say whether a seat has to act before the first step that a correction left open, and did not."""
        movers = self.seen.turn.movers if self.seen.turn else frozenset()
        return bool(self.seen.open and movers - {TABLE}) and self.seen.open[0].who not in movers

    def _notices(self) -> list[dict[str, Any]]:
        """Return what everyone should know; one that asks wants a yes or a no."""
        return [
            {"key": one.key, "words": self.speech.say(one), "asks": one.key == ASKS_KEEP_SURE}
            for one in self.snapshot.notices
        ]

    def _moves(self) -> str:
        """Say what to move: after a correction everything, after an ordinary step the bills alone.

        Where the money lies on the tablet there are no bills to move.
        """
        newest = self.seen.log[-1] if self.seen.log else None
        corrects = newest is None or newest.status != "kept" or newest.message.key == "mend"
        has_bills = self.snapshot.header is not None and self.snapshot.header.money == "box"
        shown = [one for one in self.seen.moves if has_bills or one.key not in MONEY_MOVES]
        if corrects:
            return " ".join(self.speech.say(one) for one in shown if one.key != TURN_MOVES)
        return " ".join(self._payment(one) for one in shown if one.key in MONEY_MOVES)

    def _payment(self, moved: Message) -> str:
        """Say what an ordinary step moves: who pays does not give anything back."""
        if moved.key == PAYS:
            return self.speech.text("pays_bills", who=moved.values["who"], money=moved.values["money"])
        return self.speech.say(moved)

    def _seats(self) -> tuple[SeatPlan, ...]:
        return () if self.snapshot.header is None else self.snapshot.header.seats

    def _bots(self) -> frozenset[Seat]:
        """Return the seats that the companion plays."""
        return frozenset(seat for seat, plan in enumerate(self._seats()) if plan.player != "person")

    def _on_turn(self) -> tuple[Seat, ...]:
        """Return whose turn it is, also while TABLE is asked what this seat's shake brought."""
        if self.seen.turn is None:
            return ()
        seats = tuple(sorted(self.seen.turn.movers - {TABLE}))
        about = {} if self._asked is None or self._asked.choice is None else self._asked.choice.about
        who = about.get("who")
        return seats or ((who.seat,) if isinstance(who, Who) else ())

    # --- the answer -------------------------------------------------------------------------------

    @property
    def _contradicts(self) -> bool:
        return not self._rests and self._proposal is not None and self._proposal.contradiction

    def _answer(self) -> dict[str, Any]:
        about = None if self._counted or self._rests else answers.figure(self.seen, self.sight)
        place = self._counted.best.place if self._counted else about[1] if about else None
        return {
            "counted": self._counted and self._figures(self._counted),
            "counting": self._asked is not None,
            "counts_for": self._asked.fingerprint if self._asked else "",
            "figure": about and {"n": about[0], "place": about[1]},
            "place": place.key if place else "",
            "asked": self._question(),
            "ready": [self.speech.say(one.says) for one in self.snapshot.devices if one.ok],
            "has_eye": any(one.ok for one in self.snapshot.devices),
            "can_shake": self._can_shake,
            "evidence": self._evidence(),
            "contradiction": self._contradicts,
            "sensors": self._sensors(),
            "carries_itself_in_s": self._carries_itself_in_s(),
        }

    def _carries_itself_in_s(self) -> int | None:
        """Return after how many seconds the shown count is carried out by itself, None where it waits for a tap."""
        waits = self._counted is None or self._proposal is None or self._proposal.auto_at_ms is None
        return None if waits else round(self._carry_out_s)

    def _figures(self, counted: answers.Counted) -> dict[str, Any]:
        acts = self.sight.acts_for(TABLE)
        beside = {
            name: one and self._neighbour(one, acts) for name, one in (("less", counted.less), ("more", counted.more))
        }
        return {"best": counted.best, **beside}

    def _neighbour(self, one: answers.Answer, acts: bool) -> dict[str, Any]:
        taps = one.beside if acts and one.refusal is None else ()
        return {"value": one.value, "place": one.place, "refusal": one.refusal, "taps": taps}

    def _question(self) -> str:
        names = tuple(Who(seat) for seat in self._on_turn())
        if self._asked is not None:
            return self.speech.text("shake_now", who=names)
        if self.seen.turn is not None and TABLE in self.seen.turn.movers:
            offers = self.seen.offers[TABLE].values()
            do = next((one.do for one in offers if one.choice is not None and not one.choice.kind.called), None)
            return self.speech.do(Message(do)) if do else self.speech.text("table_asked")
        return self.speech.text("act_now", who=names)

    def _sensors(self) -> str:
        says = () if self._proposal is None else self._proposal.sensors
        return ", ".join(f"{self.speech.noun(Noun(one.sensor))} {one.answers[0].value}" for one in says if one.answers)

    def _evidence(self) -> dict[str, Any] | None:
        evidence = self._proposal.evidence if self._counted and self._proposal else None
        return None if evidence is None else drawn(evidence, self._crop(evidence.crop))

    @property
    def _depth(self) -> Depth | None:
        """What the table does with a game that goes on; None where there is none."""
        return None if self.snapshot.header is None or self.seen.result else self.snapshot.header.depth

    @property
    def _rests(self) -> bool:
        """Whether the rules ask nothing now: the table only counts, or only keeps the score."""
        return self._depth in ("count", "score")

    def _only_count(self) -> dict[str, Any] | None:
        """Return the newest count of a table that only counts while its game lies there."""
        if self._depth != "count" or self.seen.game is None:
            return None
        last = answers.last_count(self.snapshot, (self.seen.game,))
        if last is None:
            return {"n": None}
        n, found, evidence = last
        picture = evidence and drawn(evidence, self._crop(evidence.crop))
        return {"n": n, "place": self.speech.noun(found[1]) if found else "", "evidence": picture}

    def _score_sheet(self) -> dict[str, Any] | None:
        """Return what has to be entered where the table keeps the score alone: what counts for each seat."""
        if self._depth != "score" or self.seen.game is None:
            return None
        facts = self.seen.game.facts(self.seen.state).items()
        owned = [(name, fact) for name, fact in facts if fact.what.key == "money" and fact.whose is not None]
        rows = [
            {"name": name, "seat": fact.whose, "value": fact.value, "least": 0, "most": fact.most, "step": fact.step}
            for name, fact in owned
        ]
        return {"facts": rows, "fingerprint": self.seen.offers[TABLE]["mend"].fingerprint}

    def _to_do(self) -> tuple[tuple[Option, ...], tuple[answers.Refused, ...]]:
        options = answers.to_do(self.seen, self.sight, self._bots())
        return options, answers.not_to_do(self.seen, self.sight) if options else ()

    # --- the bar ----------------------------------------------------------------------------------

    def _bar(self) -> dict[str, Any]:
        if self._counted is not None:
            acts = self.sight.acts_for(TABLE)
            options, refused = (self._counted.best.options, self._counted.best.refused) if acts else ((), ())
        else:
            options, refused = self._to_do()
        decides, rests = bool(self.seen.open), bool(self.seen.result) or self._rests
        in_bar = answers.shown_in_bar(options) and not decides
        return {
            "options": options,
            "taps": () if rests or not in_bar else tuple(reversed(options)),
            "listed": () if rests or in_bar else options,
            "refusals": () if rests or decides else refused,
            "calls": () if rests or decides else answers.calls(self.seen, self.sight),
            "undo": self.seen.undo if self.sight.role != "watch" else None,
            "is_narrower": lambda option: answers.is_narrower(option, options),
        }


def _deed(option: Option) -> Message:
    """Return what an option does: of a count that leaves nothing to decide, what follows from it."""
    assert option.tells is not None  # the caller looked
    then = option.tells.values.get("then")
    return then if option.who == TABLE and isinstance(then, Message) else option.tells


def _shares(option: Option) -> tuple[int, dict[Seat, int]]:
    """Return what an option brings the seat that acts, also where TABLE reports it, and what it brings the others."""
    others = dict(option.brings.others)
    actor = None if option.tells is None else _deed(option).values.get("who")
    own = others.pop(actor.seat, 0) if option.who == TABLE and isinstance(actor, Who) else option.brings.own
    return own, others


def option_id(option: Option) -> str:
    """Return an id that stays with an option from one view to the next."""
    return "o-" + sha256(f"{option.group} {option.picks} {option.tells}".encode()).hexdigest()[:12]


def _score(seen: Seen, seat: Seat) -> int:
    scored = seen.result or seen.scored
    return scored.scores[seat] if scored else 0
