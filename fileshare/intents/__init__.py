"""Promised work: kinds, outcomes, and the consumer that performs them."""
