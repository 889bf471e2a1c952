"""Pure rules of the games: standard library only, no clock, no files, no chance."""
