"""A self-service control plane for shared file systems."""
