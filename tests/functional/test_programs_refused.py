"""What a program cannot start with is told in words, and by its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

PROGRAMS = Path(sys.executable).parent
DAEMONS = ("fileshare-api", "fileshare-scheduler", "fileshare-share", "fileshare-data")
ALL = (*DAEMONS, "fileshare-standalone", "fileshare-usage-audit")


@pytest.fixture
def written(tmp_path):
    """Writes a configuration file, and returns its path."""

    def write(text, database=f"sqlite:///{tmp_path}/made.db"):
        path = tmp_path / "fileshare.conf"
        path.write_text(
            f"[DEFAULT]\nstate_path = {tmp_path}\n{text}\n[database]\nconnection = {database}\n"
        )
        return str(path)

    return write


def run(program, *words):
    """The end of a program that must come by itself."""
    return subprocess.run(
        [PROGRAMS / program, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        check=False,
    )


def in_words(done, words):
    assert words in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return True


@pytest.mark.parametrize("program", ALL)
def test_a_wrong_value_is_told_in_words(program, written):
    """Also one that the program asks for only later, and then in a traceback or never."""
    done = run(program, "--config-file", written("[intents]\nlease = long"))
    assert done.returncode == 1
    assert in_words(done, "the configuration cannot be used: Value for option lease")


@pytest.mark.parametrize("program", ["fileshare-share", "fileshare-manage"])
def test_a_file_that_is_missing_is_told_in_words(program, tmp_path):
    done = run(
        program,
        "--config-file",
        str(tmp_path / "none.conf"),
        *(("service", "list") if program == "fileshare-manage" else ()),
    )
    assert done.returncode == 1
    assert in_words(done, "Failed to find some config files")


def test_a_database_whose_module_is_missing_is_told_in_words(written):
    path = written("", database="oracle+cx_oracle://fileshare@127.0.0.1/fileshare")
    done = run("fileshare-scheduler", "--config-file", path)
    assert done.returncode == 1
    assert in_words(done, "needs a Python module that is not installed")


@pytest.mark.parametrize(
    ("text", "database", "words"),
    [
        ("", "sqlite:////no/such/directory/made.db", "There is no /no/such/directory"),
        ("", "mysql+pymysql://u:secret@127.0.0.1:1/fileshare", "cannot be used"),
        ("report_interval = often", "sqlite://", "Value for option report_interval"),
        ("report_interval = 60", "sqlite://", "must be more than report_interval"),
    ],
)
def test_the_check_of_an_upgrade_does_not_say_yes_without_a_look(text, database, words, written):
    """Exit code 1 means that the release may start."""
    path = written(text, database)
    done = run("fileshare-status", "upgrade", "check", "--config-file", path)
    assert done.returncode == 2
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("", "[shelf] share_driver is not set."),
        ("share_driver = none", "There is no driver 'none'"),
        (
            "share_driver = dummy\ndriver_handles_share_servers = no\nreserved_share_percentage = much",
            "Value for option reserved_share_percentage",
        ),
    ],
)
def test_why_a_back_end_is_not_served_is_told_in_words(section, words, written, tmp_path):
    """Again and again, for its child process is started again and again."""
    text = f"enabled_share_backends = shelf\nlog_file = {tmp_path}/share.log\n[shelf]\n{section}"
    command = [PROGRAMS / "fileshare-share", "--config-file", written(text)]
    log = tmp_path / "share.log"
    with (tmp_path / "stderr").open("w") as stderr:
        daemon = subprocess.Popen(command, stderr=stderr, start_new_session=True)
        try:
            until(lambda: log.exists() and "is not served" in log.read_text(), "the reason")
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
    said = log.read_text() + (tmp_path / "stderr").read_text()
    assert "Back end shelf is not served: " in said
    assert words in said
    assert "Traceback" not in said
