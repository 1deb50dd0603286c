"""The storm: random operations on the real stack under random faults, and a judge of the whole.

``python -m tests.chaos.storm --minutes N --seed S``; see the manual's page on testing.
"""

from fileshare.cmd import concurrency

concurrency.initialise()
