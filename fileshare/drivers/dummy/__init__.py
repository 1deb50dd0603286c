"""The dummy back end: every capability, state in files, and failures on demand."""

from fileshare.drivers.dummy.driver import DummyDriver

__all__ = ["DummyDriver"]
