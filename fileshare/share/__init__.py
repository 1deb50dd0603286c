"""The share daemon: handlers that drive one back end."""
