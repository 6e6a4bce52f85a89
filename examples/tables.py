"""People in one table and their visits in another, released together: linked by the same pseudonyms, audited joined."""

import polars as pl

import discreet as dc

tables = dc.sample_tables(5000, seed=1)
release = dc.anonymize(
    tables,
    person="patient_id",
    identifiers=["household_id", "visit_date"],
    quasi_identifiers={"age": "intervals(5, 10, 20, 40)", "sex": "flat", "zip": "mask(digits=5)"},
    sensitive=["diagnosis"],
    keep=["department"],
    privacy=["k(5)", "distinct-l(2, diagnosis)"],
    suppression="budget(5%)",
    output="safe/",
)
print(release)

# What somebody does who gets both tables: join them, and count the people who look alike.
people, visits = release.frames["people"], release.frames["visits"]
joined = people.join(visits, on="patient_id")
crowds = joined.group_by("age", "sex", "zip").agg(people=pl.col("patient_id").n_unique())
print(
    f"{people.height:,} people made {visits.height:,} visits; each looks like at least {crowds['people'].min()} people."
)
