"""Databases for the tests of this directory."""

from __future__ import annotations

from tests.fixtures.databases import empty, empty_url, engine, kind, migrated, sessions

__all__ = ["empty", "empty_url", "engine", "kind", "migrated", "sessions"]
