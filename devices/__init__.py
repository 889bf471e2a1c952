"""Everything with a cable: cameras now; buttons, lamps and scales beside them. Knows hardware, not games.

Nothing is imported here, because the capture child imports this package and has to start fast.
"""
