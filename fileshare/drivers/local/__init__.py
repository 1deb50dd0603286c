"""Shares of a local file system, exported over NFS by Ganesha."""
