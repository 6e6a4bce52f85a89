"""A job for anjana, in its own virtualenv: ``anjana_job.py JOB`` with the job as JSON.

The table goes in as text, with the same hierarchies and all columns as quasi-identifiers. What is printed is the CPU
time of the call alone, without imports and files.
"""

import json
import sys
import time

import pandas as pd
from anjana.anonymity import k_anonymity


def main() -> None:
    job = json.loads(sys.argv[1])
    data = pd.read_csv(job["file"], sep=job["separator"], dtype=str, keep_default_na=False)
    columns = list(job["hierarchies"])
    hierarchies = {}
    for column, path in job["hierarchies"].items():
        rows = pd.read_csv(path, sep=";", header=None, dtype=str, keep_default_na=False)
        hierarchies[column] = {level: rows[level].to_numpy() for level in rows.columns}
    began = time.process_time()
    released = k_anonymity(data, [], columns, job["k"], job["percent"], hierarchies)
    spent = time.process_time() - began
    released.reindex(columns=columns).to_csv(job["output"], index=False)
    print(json.dumps({"call": spent}))


main()
