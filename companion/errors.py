"""What the companion cannot do, as data: a code and typed values; the words are made in the reader's language."""

from __future__ import annotations

from rules.messages import Message, Refusal, Value


def reason(refusal: Refusal) -> Message:
    """Return a refusal as a message, to be a value of another."""
    return Message(refusal.code, refusal.values)


class CompanionError(Exception):
    """Something the companion was asked that it cannot do; `code` names it, `values` carry what a reader needs."""

    def __init__(self, code: str, **values: Value) -> None:
        super().__init__(f"{code} {values}" if values else code)
        self.code = code
        self.values = values

    @property
    def message(self) -> Message:
        """Return the code and its values as a message, to be a value of another."""
        return Message(self.code, self.values)


class Unreadable(CompanionError, ValueError):
    """A record, a setting or a post that does not read; the values name the thing and the cure."""


class Stale(CompanionError, LookupError):
    """What was tapped is no longer what is offered."""


class NotAllowed(CompanionError, PermissionError):
    """Someone else has to say yes first, or the reader only looks on."""


class NoGame(CompanionError, LookupError):
    """There is no such game, or none on the table."""


class Undecided(CompanionError, RuntimeError):
    """A correction left steps open that have to be decided first."""


class JournalDamaged(CompanionError, OSError):
    """The journal does not hold what was written."""


class JournalFull(CompanionError, OSError):
    """The disk took nothing more; nothing half-written is left."""


class JournalInUse(CompanionError, OSError):
    """Another companion writes to the same data directory."""
