"""Assets that anonymize each day's new people; the run fails if what was written breaks the policy.

Copy this file and ``../nightly/discreet_nightly.py`` beside each other, and set the variable ``DISCREET_FOLDER`` to the
folder of the job, which ``discreet_nightly.py`` describes. Try it with ``dagster dev -f discreet_assets.py``.
"""

import os

import dagster as dg
import discreet_nightly

FOLDER = os.environ.get("DISCREET_FOLDER", "/srv/people")
DAYS = dg.DailyPartitionsDefinition(start_date="2026-01-01")


@dg.asset(
    partitions_def=DAYS,
    check_specs=[dg.AssetCheckSpec("policy", asset="staged_people", blocking=True)],
    retry_policy=dg.RetryPolicy(max_retries=2, delay=600),
)
def staged_people(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The people of a day, recoded, with a check by the policy that stops the run if it fails."""
    day = context.partition_key
    path = discreet_nightly.anonymize(FOLDER, day)
    found = discreet_nightly.check(FOLDER, day)
    result = dg.AssetCheckResult(passed=found.passed, metadata={"rules": dg.MetadataValue.md(f"```\n{found}\n```")})
    return dg.MaterializeResult(metadata={"path": path}, check_results=[result])


@dg.asset(partitions_def=DAYS, deps=[staged_people])
def published_people(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The tables that readers see: only those that kept the policy."""
    return dg.MaterializeResult(metadata={"path": discreet_nightly.publish(FOLDER, context.partition_key)})


nightly = dg.define_asset_job("nightly", selection=[staged_people, published_people])
defs = dg.Definitions(
    assets=[staged_people, published_people],
    jobs=[nightly],
    schedules=[dg.build_schedule_from_partitioned_job(nightly, hour_of_day=3)],
)
