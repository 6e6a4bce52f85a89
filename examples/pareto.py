"""Which k? The front of privacy against information loss of one table, and the release of one of its points.

On the command line:

    discreet sample -n 3000 --seed 4 -o people.csv
    discreet pareto people.csv --qi birth_date,sex,zip,education --sensitive diagnosis \
        --identifiers person_id,name,city,occupation,marital_status,children,income \
        --hierarchy 'birth_date=dates(month, year, decade)' --hierarchy 'zip=mask(digits=5)' \
        --suppression 'budget(3%)' --explain -o front.html --release knee --release-to safe.csv

Run it with ``python examples/pareto.py``; it writes front.html and front.json to the current folder.
"""

import discreet as dc

people = dc.sample(3000, seed=4).select("birth_date", "sex", "zip", "education", "diagnosis")
job = {
    "quasi_identifiers": {
        "birth_date": dc.dates("month", "year", "decade"),
        "sex": dc.flat(),
        "zip": dc.mask(digits=5),
        "education": None,
    },
    "sensitive": "diagnosis",
    "suppression": "budget(3%)",
}

front = dc.pareto(people, **job)
print(front, end="\n\n")
print("What each step means:")
print(front.explain(), end="\n\n")

knee = front.knee()
release = front.release(k=knee.point.k)
assert release.audit.passed
assert abs(release.cost - knee.point.loss) < 1e-6
print(f"The release with k = {knee.point.k} has {release.classes} classes; its levels are {release.levels}.\n")

both = dc.pareto(people, **job, privacy=["k", "theta(diagnosis)"])
print(f"k alone has {len(front)} choices; k and θ together have {len(both)}:")
print(both.to_frame().select("k", "theta(diagnosis)", "normalized_loss", "suppressed"), end="\n\n")

poka = dc.pareto(people, **job, method="poka", depth=1)
print(f"POkA with depth 1 evaluates {poka.evaluated:.0%} of the nodes and the exact search {front.evaluated:.0%}.")
print(f"It misses k = {[point.k for point in poka.missed]}.")
assert {point.k for point in poka.missed} <= {point.k for point in front}

for name in ("front.html", "front.json"):
    print("wrote", front.save(name))
