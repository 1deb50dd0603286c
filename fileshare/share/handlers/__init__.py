"""Handlers of the share daemon, one module for each resource."""
