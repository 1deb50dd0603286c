"""Serving directories to clients: what drivers share of it."""
