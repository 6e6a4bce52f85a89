"""Copy into your tests: fails if a table in the folder data breaks the policy."""

import discreet


def test_tables_keep_to_the_policy() -> None:
    discreet.check("data", "policy.yaml").raise_if_failed()
