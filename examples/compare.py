"""Compare four releases of one table: more privacy, no suppression, another scheme.

Run it with ``python examples/compare.py``; ``comparison.save("comparison.html")`` would write a page with charts.
"""

import discreet as dc
from discreet.samples import HIERARCHIES

COLUMNS = ["birth_date", "sex", "education", "marital_status"]
people = dc.sample(3000, seed=1).select(*COLUMNS, "diagnosis").drop_nulls()
options = {
    "quasi_identifiers": {name: HIERARCHIES[name] for name in COLUMNS},
    "sensitive": ["diagnosis"],
}
comparison = dc.compare(
    {
        "k = 5": dc.anonymize(people, privacy="k(5)", suppression="budget(2%)", **options),
        "k = 20": dc.anonymize(people, privacy="k(20)", suppression="budget(2%)", **options),
        "no suppression": dc.anonymize(people, privacy="k(5)", **options),
        "cuts": dc.anonymize(people, privacy="k(5)", suppression="budget(2%)", scheme="subtree", **options),
    },
    queries=100,
)
print(comparison)
loss = {job.name: job.figures()["loss_LM"] for job in comparison.jobs}
assert loss["cuts"] <= loss["k = 5"] <= loss["k = 20"]
