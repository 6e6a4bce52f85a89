"""The flow: prepare, count, solve, recode, publish and audit; :class:`Release` and :class:`Front` come of it."""
