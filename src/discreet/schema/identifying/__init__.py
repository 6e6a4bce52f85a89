"""Detection of columns that could identify people, by their names, counts and a sample of values."""

from discreet.schema.identifying._detect import (
    ColumnFacts,
    Finding,
    detect,
    detect_all,
    known_texts,
    numbers_people,
    singles_out,
)
from discreet.schema.identifying._diversity import near_duplicates, suggest_diversity
from discreet.schema.identifying._kinds import KINDS, Kind, Sighting, sightings
from discreet.schema.identifying._leaks import Leak, find_leaks
from discreet.schema.identifying._words import words_of

__all__ = [
    "KINDS",
    "ColumnFacts",
    "Finding",
    "Kind",
    "Leak",
    "Sighting",
    "detect",
    "detect_all",
    "find_leaks",
    "known_texts",
    "near_duplicates",
    "numbers_people",
    "sightings",
    "singles_out",
    "suggest_diversity",
    "words_of",
]
