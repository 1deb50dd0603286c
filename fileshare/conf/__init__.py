"""Options, one module for each section."""
