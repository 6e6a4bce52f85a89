"""Jobs: the one list of parameters, shared by Python, job files, the command line and the studio.

``parameters`` is the list; ``job`` its form as a file, ``settings`` the form the pipeline works with. :class:`Job` is
imported on first use, because the command line reads the list before it needs pydantic.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.job.job import Job

__all__ = ["Job"]


def __getattr__(name: str) -> Any:
    if name == "Job":
        from discreet.job.job import Job

        return Job
    raise AttributeError(f"module 'discreet.job' has no attribute '{name}'")
