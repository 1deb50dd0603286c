"""Storage back ends: the contract, and its implementations."""
