"""What is added; run before the new code starts."""
