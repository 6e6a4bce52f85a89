"""The Li-Li search: *Towards optimal k-anonymization* (Li and Li, 2008), over partitions of all attributes.

Read in this order: :mod:`base` (states and applicators), :mod:`set_enumeration` and :mod:`step_enumeration` (the trees
of section 3), :mod:`enumeration` (which scheme uses which), :mod:`catalogue` (states as numbers), :mod:`evaluation`
(costs and lower bounds, section 4.3), :mod:`search` (pruning, section 4.4).
"""
