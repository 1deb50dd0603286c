"""Filters: pure classes that say whether a pool can serve a request, and why not."""
