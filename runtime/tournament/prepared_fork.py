"""Imported by the fork server last of all: prepares what all matches share (`runtime.tournament.preparation`)."""

from runtime.tournament.preparation import prepare

prepare()
