"""A job for anonypy, in its own virtualenv: ``anonypy_job.py JOB`` with the job as JSON.

Its Mondrian takes no hierarchies. Numbers go in as numbers, text as categories. It asks for a sensitive column besides
the quasi-identifiers, and gets one that is the same in every row. What is printed is the CPU time of the call alone.
"""

import json
import sys
import time

import anonypy
import pandas as pd


def main() -> None:
    job = json.loads(sys.argv[1])
    columns = list(job["hierarchies"])
    data = pd.read_csv(job["file"], sep=job["separator"], keep_default_na=False)
    for column in columns:
        if not pd.api.types.is_numeric_dtype(data[column]):
            data[column] = data[column].astype("category")
    data["nothing"] = 0
    began = time.process_time()
    released = anonypy.Preserver(data, columns, "nothing").anonymize_k_anonymity(k=job["k"])
    spent = time.process_time() - began
    lines = [{**{column: _text(line[column]) for column in columns}, "count": line["count"]} for line in released]
    pd.DataFrame(lines).to_csv(job["output"], index=False)
    print(json.dumps({"call": spent}))


def _text(value: list[str]) -> str:
    """Return the one text of the list, with the members of a set in order."""
    return ",".join(sorted(value[0].split(",")))


main()
