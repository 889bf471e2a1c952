"""Frames in, readings out: what lies on the table, seen by a camera, with how far to believe it."""
