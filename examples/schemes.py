"""Generalization schemes: the optimal release of one table under each scheme.

More general schemes lose less; only `ordered` and `guided-set` cannot be compared. The last release uses a different
scheme for each column. The same on the command line:

    discreet sample -n 1000 --seed 1 -o people.csv
    discreet anonymize people.csv -o safe.csv --qi sex,marital_status,children -k 5 --suppression class-records \
        --identifiers person_id,name,birth_date,zip,city,education,occupation,income \
        --scheme subtree --scheme marital_status=set --scheme children=ordered

Run it with ``python examples/schemes.py``.
"""

from itertools import pairwise

import polars as pl

import discreet as dc

people = dc.sample(1000, seed=1).select("sex", "marital_status", pl.col("children").clip(0, 4)).drop_nulls()
hierarchies = {
    "sex": dc.flat(),
    "marital_status": dc.groups(
        {"Alone": ["Single", "Separated", "Divorced", "Widowed"], "Together": ["Partnered", "Married"]}
    ),
    "children": dc.ranges([1, 3]),
}
mixed = {"sex": "subtree", "marital_status": "set", "children": "ordered"}

costs = {}
print("scheme               recodings     loss suppressed   distinct released values")
for scheme in ("full-domain", "subtree", "guided-ordered", "ordered", "guided-set", "set", mixed):
    release = dc.anonymize(
        people,
        quasi_identifiers=hierarchies,
        privacy="k(5)",
        scheme=scheme,
        suppression="class-records",
    )
    assert release.status == "optimal"
    assert release.audit.passed
    name = scheme if isinstance(scheme, str) else "mixed"
    costs[name] = release.cost
    values = ", ".join(f"{column} {count}" for column, count in release.released_values.items())
    print(f"{name:16} {release.stats['space']:13,} {release.cost:8.2f} {release.suppressed:10}   {values}")

print("\nReleased values with mixed schemes:")
for column in people.columns:
    values = sorted(release.frame[column].cast(pl.String).unique())
    print(f"  {column:15} {', '.join(values)}")

order = ["full-domain", "subtree", "guided-ordered", "ordered", "set"]
assert all(costs[wider] <= costs[narrower] + 1e-9 for narrower, wider in pairwise(order))
assert costs["set"] - 1e-9 <= costs["guided-set"] <= costs["guided-ordered"] + 1e-9
assert costs["set"] - 1e-9 <= costs["mixed"] <= costs["subtree"] + 1e-9
