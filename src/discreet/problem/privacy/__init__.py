"""Privacy models: one module each. Dropping a module into this folder adds a model."""

from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel

__all__ = ["PRIVACY", "Groups", "PrivacyModel"]
