"""The narrow functions that run as root."""
