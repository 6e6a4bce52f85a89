"""Kinds of suppression: the optimal cut of one table for each of them.

First, no diagnosis may exceed a quarter of the rows of any equivalence class. More than a quarter of all patients are
healthy, so this is infeasible without suppression. Then thresholds depend on frequency: only rare diagnoses need
protection. The same on the command line, for one kind:

    discreet sample -n 2000 --seed 1 -o people.csv
    discreet anonymize people.csv -o safe.csv --qi sex,education,marital_status --sensitive diagnosis \
        --identifiers person_id,name,birth_date,zip,city,occupation,children,income \
        --scheme subtree --privacy 'l+(0.25, diagnosis)' --suppression violating-records

Run it with ``python examples/suppression.py``.
"""

import discreet as dc

people = dc.sample(2000, seed=1).select("sex", "education", "marital_status", "diagnosis")
education = {
    "Basic": ["No schooling", "Primary school", "Middle school"],
    "Secondary": ["High school", "Vocational"],
    "Higher": ["Bachelor", "Master", "Doctorate"],
}
marital_status = {"Alone": ["Single", "Separated", "Divorced", "Widowed"], "Together": ["Partnered", "Married"]}

for promise in ("l+(0.25, diagnosis)", "l+(0.25, diagnosis, by=frequency)"):
    print(f"\n{promise}")
    print("suppression               suppressed    values hidden       loss   cuts examined")
    for kind in ("none", "class-records", "class-values", "violating-values", "violating-records"):
        try:
            release = dc.anonymize(
                people,
                quasi_identifiers={
                    "sex": dc.flat(),
                    "education": dc.groups(education),
                    "marital_status": dc.groups(marital_status),
                },
                sensitive=["diagnosis"],
                privacy=promise,
                cost="LM(penalty=l+)",
                suppression=kind,
                scheme="subtree",
            )
        except dc.InfeasibleError:
            print(f"{kind:18}  no release keeps the promise")
            continue
        assert release.status == "optimal"
        assert release.audit.passed
        examined = f"{release.stats['examined']:,} of {release.stats['space']:,}"
        print(f"{kind:18} {release.suppressed:17} {release.suppressed_values:16} {release.cost:10.1f}   {examined:>13}")
