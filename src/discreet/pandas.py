"""Importing this module gives frames of pandas an accessor: ``frame.discreet.anonymize(...)``.

>>> import pandas as pd
>>> import discreet.pandas
>>> table = pd.DataFrame({"sex": ["f", "f", "m", "m"]})
>>> table.discreet.check(quasi_identifiers=["sex"], privacy="k(2)").passed
True
"""

from __future__ import annotations

from discreet.errors import UsageError
from discreet.pipeline.frame_methods import FrameMethods

try:
    import pandas as pd
except ImportError:
    raise UsageError(
        "pandas is not installed; install it, as in: pip install 'discreet[pandas]'.", topic="missing-extra"
    ) from None

__all__: list[str] = []

pd.api.extensions.register_dataframe_accessor("discreet")(FrameMethods)
