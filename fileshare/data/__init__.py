"""The data daemon: copies between back ends."""
