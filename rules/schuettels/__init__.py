"""Schüttel's: shake gnomes out of a cup, and put them to work where their number leads."""

from rules.schuettels.game import Schuettels

__all__ = ["Schuettels"]
