"""What these eyes are offered, and whether a post is still about it: a refusal tells no secret."""

from __future__ import annotations

from typing import Any

from companion import codec
from companion.errors import Stale
from rules.core import Action, Choice, Game, Refusal, Refused, Seat, Who


def check(game: Game[Any], state: Any, who: Seat, action: Action[Any], *, eyes: Seat | None, mark: str | None) -> None:
    """Raise Stale where the form of fingerprint `mark` is no longer offered, Refused where the action is not.

    Checked first on what the eyes may know, whose reasons may be told; what only the full state refuses is told
    without a reason.
    """
    seen = game.see(state, eyes)
    offered = game.offer(seen, who, type(action))
    if mark is not None and (isinstance(offered, Refusal) or mark != codec.fingerprint(game, who, action.do, offered)):
        raise Stale("stale", do=action.do, who=Who(who))
    why = why_not(offered, action)
    if why is not None:
        raise Refused(why)
    if seen is not state and why_not(game.offer(state, who, type(action)), action) is not None:
        raise Refused(Refusal("cannot_do_this", "hidden", {"who": Who(who), "do": action.do}))


def why_not(offered: Choice | Refusal, action: Action[Any]) -> Refusal | None:
    """Say why a filled form is not what was offered, or None."""
    return offered if isinstance(offered, Refusal) else offered.why_not(action)
