"""The database floor: the only one that speaks SQL."""
