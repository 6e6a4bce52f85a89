"""A DAG that anonymizes each day's new people, and fails if what was written breaks the policy.

Copy this file and ``../nightly/discreet_nightly.py`` into the folder of your DAGs, and set the variable
``DISCREET_FOLDER`` to the folder of the job, which ``discreet_nightly.py`` describes. Written for Airflow 3.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import discreet_nightly
from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException

FOLDER = os.environ.get("DISCREET_FOLDER", "/srv/people")


@task(retries=2, retry_delay=timedelta(minutes=10))
def anonymize(day: str) -> str:
    """Recode the people of the day."""
    return discreet_nightly.anonymize(FOLDER, day)


@task
def check(day: str) -> None:
    """Stop the run if the policy is broken; trying again would not help."""
    found = discreet_nightly.check(FOLDER, day)
    if not found.passed:
        raise AirflowFailException(f"The table of {day} stays unpublished.\n{found}")


@task
def publish(day: str) -> str:
    """Let readers see the table."""
    return discreet_nightly.publish(FOLDER, day)


@dag(schedule="@daily", start_date=datetime(2026, 1, 1, tzinfo=UTC), catchup=False, tags=["privacy"])
def discreet_people() -> None:
    """Anonymize, check, publish."""
    day = "{{ ds }}"
    anonymize(day) >> check(day) >> publish(day)


people = discreet_people()
