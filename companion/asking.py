"""What the table is asked now, and proposals that answer it: from a sense or typed by a person."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from companion.errors import NoGame
from companion.proposal import Answer, Evidence, Proposal
from companion.referee import Said, Verdict, countable, judge
from companion.snapshot import Snapshot
from rules.core import TABLE, Choice, Game, Refused
from rules.forms import Count


@dataclass(frozen=True, slots=True)
class Question:
    """A choice of TABLE that a sense may fill in, with the game and state that ask it."""

    game: Game[Any]
    state: Any
    choice: Choice

    @property
    def field(self) -> str:
        """The name of the field that takes the count."""
        return next(name for name, one in self.choice.fields.items() if isinstance(one, Count))

    def nobody_decides(self, answer: int) -> bool:
        """Say whether this answer leads to no seat's choice: such a place may carry itself out."""
        action = self.choice.kind(**{self.field: answer})
        try:
            after = self.game.apply(self.state, TABLE, action)
        except Refused:
            return False
        return all(mover == TABLE for mover in self.game.turn(after).movers)


def question(snapshot: Snapshot, sense: str, *, by_hand: bool = False) -> Question | None:
    """Return what the table is asked and this sense may answer, None where nothing is.

    While a correction leaves steps to be decided, only a person answers (`by_hand`): what lies there is not about them.
    """
    game, state = snapshot.game, snapshot.state
    if game is None or (snapshot.open and not by_hand) or TABLE not in game.turn(state).movers:
        return None
    offers = (game.offer(state, TABLE, kind) for kind in game.actions.values())
    choice = next((one for one in offers if isinstance(one, Choice) and one.sense == sense), None)
    return None if choice is None else Question(game, state, choice)


def is_counting(snapshot: Snapshot) -> bool:
    """Say whether this table only counts: no game, or one that is opened in that depth."""
    return snapshot.header is None or snapshot.header.depth == "count"


def proposed(
    asked: Question, snapshot: Snapshot, said: Sequence[Said], *, evidence: Evidence | None, auto_at_ms: int | None
) -> Proposal:
    """Return what senses say as a proposal; `auto_at_ms` counts for a sure answer that leaves nothing to decide."""
    verdict = judge(asked.choice, said)
    auto = auto_at_ms if verdict.sure and asked.nobody_decides(_best(verdict)) else None
    return Proposal(
        id=new_id(),
        number=snapshot.number,
        do=asked.choice.kind.do,
        field=asked.field,
        answers=verdict.answers,
        sure=verdict.sure,
        evidence=evidence,
        sensors=tuple(one.says() for one in said),
        auto_at_ms=auto,
        contradiction=verdict.contradiction,
    )


def typed(snapshot: Snapshot, sense: str, count: int, *, auto_at_ms: int, corrects: bool = True) -> Proposal:
    """Return a count that a person typed as a proposal, with the picture of the one it `corrects`.

    Raises NoGame where nothing is asked, Refused for a count that the form does not take.
    """
    asked = question(snapshot, sense, by_hand=True)
    if asked is None:
        raise NoGame("nothing_asked")
    why = asked.choice.why_not(asked.choice.kind(**{asked.field: count}))
    if why is not None:
        raise Refused(why)
    open_one = snapshot.proposal
    return Proposal(
        id=new_id(),
        number=snapshot.number,
        do=asked.choice.kind.do,
        field=asked.field,
        answers=(Answer(count, 1.0),),
        sure=True,
        evidence=open_one.evidence if open_one is not None and corrects else None,
        auto_at_ms=auto_at_ms if asked.nobody_decides(count) else None,
    )


def left_behind(snapshot: Snapshot, sense: str, left: int) -> int:
    """Return the count that fell, given what is left in the cup: exact whatever rolled away; raises NoGame."""
    asked = question(snapshot, sense, by_hand=True)
    if asked is None:
        raise NoGame("nothing_asked")
    return countable(asked.choice)[-1] - left


def counted(said: Said, number: int, evidence: Evidence | None) -> Proposal:
    """Return a count where no game asks for one."""
    total = sum(said.likelihood.values())
    ranked = sorted(said.likelihood.items(), key=lambda pair: -pair[1])
    answers = tuple(Answer(count, share / total) for count, share in ranked)
    sure = Verdict(answers, contradiction=False).sure
    return Proposal(new_id(), number, "count", "count", answers, sure=sure, evidence=evidence)


def means(games: Sequence[Game[Any]], sense: str, count: int) -> tuple[Game[Any], Any] | None:
    """Return the first game that has a name for this count, and the name."""
    return next(((game, noun) for game in games if (noun := game.means(sense, count)) is not None), None)


def new_id() -> str:
    """Return an id that nobody guesses."""
    return secrets.token_hex(8)


def _best(verdict: Verdict) -> int:
    best = verdict.answers[0].value
    assert isinstance(best, int)
    return best
