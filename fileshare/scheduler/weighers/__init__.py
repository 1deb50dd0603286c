"""Weighers: pure classes that give each passing pool a number."""
