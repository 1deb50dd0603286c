"""One module for each REST resource."""
