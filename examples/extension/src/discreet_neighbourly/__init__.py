"""A privacy model, a cost and a solver for discreet, as somebody else would write them."""
