"""The games this product knows: one line each, the only list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules.core import Game
from rules.schuettels import Schuettels

GAMES: Mapping[str, Game[Any]] = {game.key: game for game in (Schuettels(),)}
