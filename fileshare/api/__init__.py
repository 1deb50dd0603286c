"""The REST API: declarations, and the one path that every request takes."""
