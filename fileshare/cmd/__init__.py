"""Entry points: one short main for each process, and the composition root."""
