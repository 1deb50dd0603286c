"""The steps, oldest first in each branch."""
