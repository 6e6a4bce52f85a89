"""A release drawn at random near the best one."""
