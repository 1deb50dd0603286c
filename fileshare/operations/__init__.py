"""What a request decides: one transaction, then one ring."""
