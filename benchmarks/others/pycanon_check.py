"""What pycanon measures, in its own virtualenv: ``pycanon_check.py JOBS`` with a JSON file of jobs.

Each job names a CSV file, its quasi-identifiers, a sensitive column of text and one of numbers. What is printed is a
JSON list with the parameters each table reaches. Everything but the numbers is read as text.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from pycanon import anonymity


def main() -> None:
    found = []
    for job in json.loads(Path(sys.argv[1]).read_text()):
        quasi, text, number = job["quasi_identifiers"], job["text"], job["number"]
        data = pd.read_csv(job["file"], dtype=dict.fromkeys([*quasi, text], str), keep_default_na=False)
        alpha, k = anonymity.alpha_k_anonymity(data, quasi, [text])
        found.append(
            {
                "k": int(k),
                "alpha": float(alpha),
                "distinct l": int(anonymity.l_diversity(data, quasi, [text])),
                "entropy l": int(anonymity.entropy_l_diversity(data, quasi, [text])),
                "t equal": float(anonymity.t_closeness(data, quasi, [text])),
                "t ordered": float(anonymity.t_closeness(data, quasi, [number])),
                "beta": float(anonymity.basic_beta_likeness(data, quasi, [text])),
                "delta": float(anonymity.delta_disclosure(data, quasi, [text])),
            }
        )
    print(json.dumps(found))


main()
