"""Everything with a cable: cameras, buttons, lamps and scales. Knows hardware, not games.

Nothing is imported here, because the capture child imports this package and has to start fast.
"""
