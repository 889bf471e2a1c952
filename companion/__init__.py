"""The application: one live table, its journal, words, settings and commands."""
