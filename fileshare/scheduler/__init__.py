"""Placement of shares on pools."""
