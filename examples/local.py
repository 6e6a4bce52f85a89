"""What local recoding saves: the same people and promises, recoded alike everywhere and group by group.

First the best release that treats equal values alike, then local recoding by the default solver and by three published
methods, each with what is proven about all releases. The same on the command line:

    discreet sample -n 1500 --seed 1 -o people.csv
    discreet anonymize people.csv -o safe.csv --qi birth_date,sex,education --sensitive diagnosis -k 5 -l 2 \
        --identifiers person_id,name,zip,city,occupation,marital_status,children,income --scheme local --cost NCP

Run it with ``python examples/local.py``.
"""

import polars as pl

import discreet as dc

people = dc.sample(1500, seed=1).drop_nulls()
people = people.select("sex", "education", "diagnosis", age=2026 - pl.col("birth_date").dt.year())
education = dc.groups(
    {
        "Basic": ["No schooling", "Primary school", "Middle school"],
        "Secondary": ["High school", "Vocational"],
        "Higher": ["Bachelor", "Master", "Doctorate"],
    }
)
hierarchies = {"age": dc.intervals(5, 10, 20, 40), "sex": dc.flat(), "education": education}
promises = {"sensitive": ["diagnosis"], "privacy": ["k(5)", "distinct-l(2)"], "cost": "LM", "seed": 1}

alike = dc.anonymize(people, quasi_identifiers=hierarchies, scheme="full-domain", **promises)
print("released                     loss  at least  classes")
print(f"{'alike everywhere':24} {alike.cost:8.1f} {alike.lower_bound:9.1f} {alike.classes:8}")

ranges = {**hierarchies, "age": None}  # without a hierarchy, ages are released as ranges
found = {}
for solver in ("local", "top-down", "bottom-up", "mondrian"):
    found[solver] = dc.anonymize(people, quasi_identifiers=ranges, scheme="local", solver=solver, **promises)
    release = found[solver]
    assert release.audit.passed
    print(f"{solver:24} {release.cost:8.1f} {release.lower_bound:9.1f} {release.classes:8}")

print("\nThe first rows under local:")
for before, after in zip(people.head(5).to_dicts(), found["local"].frame.head(5).to_dicts(), strict=True):
    print("  " + ", ".join(f"{before[column]} → {after[column]}" for column in ("age", "sex", "education")))

means = dc.anonymize(people, quasi_identifiers=ranges, scheme="local(show=mean)", **promises)
print(f"\nWith show=mean, the mean age stays {means.frame['age'].mean():.2f} (it was {people['age'].mean():.2f}).")

assert found["local"].cost == min(release.cost for release in [alike, *found.values()])
assert abs(means.frame["age"].mean() - people["age"].mean()) < 1e-6
