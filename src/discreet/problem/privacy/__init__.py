"""Privacy models, one module each. Dropping a module into this folder adds a model."""

from discreet.problem.privacy._base import PRIVACY, WEAKER, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel
from discreet.problem.privacy._thresholds import ThresholdModel

__all__ = ["PRIVACY", "TOLERANCE", "WEAKER", "Groups", "PrivacyModel", "SensitiveModel", "ThresholdModel"]
