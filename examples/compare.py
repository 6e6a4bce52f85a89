"""Four ways to release one table, side by side: more privacy, more suppression, another scheme.

Run it with ``python examples/compare.py``; ``found.save("comparison.html")`` would write the page with charts.
"""

import discreet as dc
from discreet.samples import HIERARCHIES

COLUMNS = ["birth_date", "sex", "education", "marital_status"]
people = dc.sample(3000, seed=1).select(*COLUMNS, "diagnosis").drop_nulls()
asked = {
    "quasi_identifiers": {name: HIERARCHIES[name] for name in COLUMNS},
    "sensitive": ["diagnosis"],
}
found = dc.compare(
    {
        "k = 5": dc.anonymize(people, privacy="k(5)", suppression="budget(2%)", **asked),
        "k = 20": dc.anonymize(people, privacy="k(20)", suppression="budget(2%)", **asked),
        "all stay": dc.anonymize(people, privacy="k(5)", **asked),
        "cuts": dc.anonymize(people, privacy="k(5)", suppression="budget(2%)", scheme="subtree", **asked),
    },
    queries=100,
)
print(found)
loss = {one.name: one.figures()["loss_LM"] for one in found.jobs}
assert loss["cuts"] <= loss["k = 5"] <= loss["k = 20"]
