"""Priorities: the table with the highest score, for several scores.

The same on the command line:

    discreet sample -n 3000 --seed 1 -o people.csv
    discreet anonymize people.csv -o safe.csv --qi birth_date,sex,zip --sensitive diagnosis -k 5 --missing suppress \
        --identifiers person_id,name,city,education,occupation,marital_status,children,income \
        --hierarchy 'birth_date=dates(year, decade)' --hierarchy 'zip=mask(digits=5)' \
        --priority zip=10 --priority birth_date=5 --keep-at-least zip=4

Run it with ``python examples/priorities.py``.
"""

import discreet as dc

people = dc.sample(3000, seed=1).drop_nulls().select("birth_date", "sex", "zip", "diagnosis")
table = {
    "quasi_identifiers": {"birth_date": dc.dates("year", "decade"), "sex": dc.flat(), "zip": dc.mask(digits=5)},
    "sensitive": ["diagnosis"],
    "privacy": ["k(5)", "distinct-l(2)"],
    "priorities": {"zip": 10, "birth_date": 5, "sex": 1},
}


def square_roots(shown, before, priorities):
    """A score in which every further value of a column counts less."""
    return (priorities * shown**0.5).sum()


print(f"{'score':22} {'best':>8} {'mechanism':>10} {'by class':>9}   values of birth_date, sex, zip in the best table")
for cost in ("score", "score(eta, d=10)", "score(log)", dc.Score(square_roots)):
    best = dc.anonymize(people, **table, cost=cost, suppression="budget(2%)")
    mechanism = dc.anonymize(people, **table, cost=cost, suppression="budget(2%)", solver="user-oriented")
    by_class = dc.anonymize(people, **table, cost=cost, suppression="budget(2%)", scheme="local")
    assert best.audit.passed
    assert mechanism.score <= best.score == best.stats["score_at_most"]
    assert by_class.score >= mechanism.score
    name = cost if isinstance(cost, str) else cost.by.__name__
    values = ", ".join(str(count) for count in best.released_values.values())
    print(f"{name:22} {best.score:8.2f} {mechanism.score:10.2f} {by_class.score:9.2f}   {values}")

print("\nLimits that cannot be met:")
try:
    dc.anonymize(people, **table, keep_at_least={"birth_date": 2, "zip": 3})
except dc.errors.InfeasibleError as error:
    print(f"  {error}")
    (limits, *_) = error.limits
relaxed = {"birth_date": 2, "zip": 3} | limits
release = dc.anonymize(people, **table, keep_at_least=relaxed)
print(f"  with {relaxed}: {release.levels}, score {release.score:.0f}")

rare = dc.anonymize(people, **table, suppression="pre-sampling(5, level=9, levels={zip: 1})")
print(f"\nWithout {rare.suppressed} outliers the score is {rare.score:.0f}: {rare.levels}.")
assert rare.score > release.score

steps = dc.anonymize(people, **table, cost="score(log)", solver="user-oriented").stats["steps"]
print("\nSteps of the mechanism with score(log):")
for step in steps:
    print(f"  {step['step']:16} {step['levels']}  {step['score']:.2f}")
