"""What an assistant may do with tables: look, check and anonymize, and never see a row.

Every tool answers with names, types, counts and verdicts, the same as ``--json`` prints; no value of the data is among
them. Tables are files inside one folder, and nothing that exists is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError
from discreet.runtime.locations import is_url

if TYPE_CHECKING:
    from discreet.job import Job

__all__ = ["AssistantTools"]

_INPUTS = ("input", "tables", "population", "against")
_OUTPUTS = ("output", "report", "protection_page", "certificate")
_FOR_THE_OWNER = ("internal_page", "key", "mapping", "overwrite", "seed", "spark")
"""Keys of a job that an assistant may not set: they are secret, or reach beyond the folder."""


class AssistantTools:
    """The tools, bound to a folder. Each public method is a tool; its docstring says what an assistant reads.

    >>> [tool.__name__ for tool in AssistantTools(".").tools()]
    ['look', 'plan', 'anonymize', 'trade_offs', 'check', 'parts', 'job_schema', 'explain']
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise UsageError(f"There is no folder '{folder}'; name one that exists, with --folder.")

    def tools(self) -> list[Callable[..., dict[str, Any]]]:
        """Return the tools, in the order in which one would use them."""
        return [
            self.look,
            self.plan,
            self.anonymize,
            self.trade_offs,
            self.check,
            self.parts,
            self.job_schema,
            self.explain,
        ]

    def look(self, table: str) -> dict[str, Any]:
        """Look at a table: its columns, their types and suggested roles, and how many rows are unique.

        Start here. The table is a CSV, Parquet, Excel or JSON lines file in the folder of this server. No value of it
        is shown.
        """
        from discreet.pipeline.look import look

        return look(self._inside(table)).to_dict()

    def plan(self, job: dict[str, Any]) -> dict[str, Any]:
        """Check a job without doing it: columns, roles, hierarchies, and whether all parts go together.

        The keys of a job are those of ``job_schema``; at least ``input``, ``quasi_identifiers`` and ``privacy``.
        """
        return self._job(job).plan().to_dict()

    def anonymize(self, job: dict[str, Any]) -> dict[str, Any]:
        """Anonymize the table of a job and write its ``output``, which is read back and audited first.

        Answers with the verdict, the cost with its bound, what was generalized and how far, and the audit. Show people
        the verdict first: ``danger`` and ``caution`` mean that they have to decide something.
        """
        checked = self._job(job)
        if checked.output is None:
            raise UsageError("A job needs the file to write; name one with the key output.")
        return checked.run().to_dict()

    def trade_offs(self, job: dict[str, Any]) -> dict[str, Any]:
        """Compute which loss each k costs, for the table and quasi-identifiers of a job; its privacy is not used.

        Use it to let people choose k before ``anonymize``. Nothing is written.
        """
        from discreet.pipeline.pareto import pareto

        return pareto(**self._job({"privacy": "k(2)", **job}).front_arguments()).to_dict()

    def check(self, table: str, policy: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check whether a table keeps to a policy: promises, forbidden columns, columns that single people out.

        Without a policy no column may name people or single them out. A policy has keys such as ``quasi_identifiers``,
        ``sensitive``, ``privacy`` and ``forbid``.
        """
        from discreet.job.policy import Policy
        from discreet.pipeline.check import check_all

        rules = None if policy is None else Policy(**policy)
        return check_all([str(self._inside(table))], rules).to_dict()

    def parts(self, family: str | None = None) -> dict[str, Any]:
        """List privacy models, costs, suppression kinds, schemes, solvers, hierarchy builders and attacks.

        Each has its text form for jobs, one sentence, and an example. ``family`` restricts the list to one of them, as
        in ``privacy``.
        """
        from discreet.vocabulary import FAMILIES, families, list_parts

        if family is not None and family not in FAMILIES:
            raise UsageError(f"There is no family of parts '{family}'; there are {', '.join(FAMILIES)}.")
        return {name: list_parts(found) for name, found in families().items() if family in (None, name)}

    def job_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a job: every key, what it means and which texts it takes."""
        from discreet.job.json_schema import job_schema

        return job_schema()

    def explain(self, topic: str) -> dict[str, Any]:
        """Say what an error means and what to do about it; every error names its topic."""
        from discreet.explain import explain

        found = explain(topic)
        return {"topic": topic, "title": found.title, "text": found.text}

    def _job(self, fields: dict[str, Any]) -> Job:
        """Return a job whose files are all inside the folder, and which overwrites nothing."""
        from discreet.job import Job

        refused = sorted(set(fields) & set(_FOR_THE_OWNER))
        if refused:
            raise UsageError(f"An assistant may not set {', '.join(refused)}; leave it to the owner of the data.")
        job = Job(**{**fields, "overwrite": False})
        job._folder = self.folder
        for key in (*_INPUTS, *_OUTPUTS):
            given = getattr(job, key)
            given = [*given.values()] if isinstance(given, dict) else given
            for path in given if isinstance(given, list) else [given]:
                if path is not None:
                    self._inside(path)
        for path in job.files_read():
            self._inside(str(path))
        return job

    def _inside(self, path: str) -> Path:
        """Return the path of a file inside the folder; refuse all others, and tables of databases."""
        found = (self.folder / path).resolve()
        if is_url(path) or not found.is_relative_to(self.folder):
            raise UsageError("Only files inside the folder of this server can be used; name one relative to it.")
        return found
