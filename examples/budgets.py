"""How suppression reduces information loss: optimal releases of one table under growing budgets.

Run it with ``python examples/budgets.py``.
"""

import discreet as dc

people = dc.sample(5000, seed=1).select("birth_date", "sex", "zip", "education", "diagnosis")

print("budget      suppressed information loss   levels")
for budget in ("none", "budget(0.5%)", "budget(1%)", "budget(2%)", "budget(5%)"):
    release = dc.anonymize(
        people,
        quasi_identifiers={
            "birth_date": dc.dates("month", "year", "decade"),
            "sex": dc.flat(),
            "zip": dc.mask(digits=5),
            "education": None,
        },
        sensitive=["diagnosis"],
        privacy=["k(5)", "distinct-l(2, diagnosis)"],
        suppression=budget,
    )
    assert release.status == "optimal"
    print(f"{budget:14} {release.suppressed:7} {release.normalized_cost:16.1%}   {release.levels}")
