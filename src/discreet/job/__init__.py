"""Jobs: the one list of parameters, shared by Python, job files, the command line and the studio.

``parameters`` is the list; ``job`` its form as a file, ``settings`` the form the pipeline works with, ``policy`` what a
finished table is checked by. :class:`Job` and :class:`Policy` are imported on first use, because the command line reads
the list before it needs pydantic.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.job.job import Job
    from discreet.job.policy import Policy

__all__ = ["Job", "Policy"]


def __getattr__(name: str) -> Any:
    if name == "Job":
        from discreet.job.job import Job

        return Job
    if name == "Policy":
        from discreet.job.policy import Policy

        return Policy
    raise AttributeError(f"module 'discreet.job' has no attribute '{name}'")
