"""Job files: all that :func:`discreet.anonymize` is told, as YAML or JSON to keep under version control."""

from discreet.job._compare import compare
from discreet.job._job import NOT_OF_FRONTS, Job

__all__ = ["NOT_OF_FRONTS", "Job", "compare"]
