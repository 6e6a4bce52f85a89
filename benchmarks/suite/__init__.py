"""The benchmarks, one module each; ``run(settings)`` measures and returns rows."""
