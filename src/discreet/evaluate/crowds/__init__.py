"""Finding a person in a table by what somebody knows about them."""

from discreet.evaluate.crowds.find_person import find
from discreet.evaluate.crowds.report import FoundPerson, LearntColumn, LearntValue

__all__ = ["FoundPerson", "LearntColumn", "LearntValue", "find"]
