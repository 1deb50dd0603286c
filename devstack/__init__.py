"""What brings fileshare up on one machine: quick start, whole cloud, test runner."""
