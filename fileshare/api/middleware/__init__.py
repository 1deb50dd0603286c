"""WSGI middleware around the application."""
