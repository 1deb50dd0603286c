"""What is removed; run after the last old process has stopped."""
