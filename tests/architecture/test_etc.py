"""What stands in etc/: the units, the logging sample and the generators' files."""

from __future__ import annotations

import configparser
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fileshare.cmd import samples

ROOT = Path(__file__).resolve().parents[2]
ETC = ROOT / "etc" / "fileshare"
UNITS = sorted((ETC / "systemd").glob("*.service"))


def _scripts():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project["scripts"]


def test_every_daemon_has_a_unit():
    daemons = {name for name in _scripts() if name not in {"fileshare-manage", "fileshare-status"}}
    assert {unit.stem for unit in UNITS} == {name for name in daemons if _is_daemon(name)}


def _is_daemon(name):
    return name.removeprefix("fileshare-") in {"api", "scheduler", "share", "data", "standalone"}


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and not os.environ.get("CI"),
    reason="systemd-analyze is not installed",
)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_nothing_wrong_with_a_unit(unit, tmp_path):
    # The units name /usr/bin; whatever can be executed stands in for what is installed there.
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace(f"/usr/bin/{unit.stem}", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_its_program_and_comes_back(unit):
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str
    parsed.read(unit)
    service = parsed["Service"]
    assert service["ExecStart"].split()[0] == f"/usr/bin/{unit.stem}"
    assert unit.stem in _scripts()
    assert service["Restart"] == "always"
    assert service["NoNewPrivileges"] == "yes"


def test_the_logging_sample_is_one(tmp_path):
    sample = tmp_path / "logging.conf"
    text = (ETC / "logging.conf.sample").read_text()
    sample.write_text(text.replace("/var/log/fileshare", str(tmp_path)))
    program = (
        "import logging, sys\n"
        "from oslo_config import cfg\n"
        "from oslo_log import log\n"
        "conf = cfg.ConfigOpts()\n"
        "log.register_options(conf)\n"
        "conf(['--log-config-append', sys.argv[1]])\n"
        "log.setup(conf, 'fileshare')\n"
        "logging.getLogger('fileshare.share').info('a share')\n"
        "logging.getLogger('sqlalchemy.engine').info('a statement')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(sample)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "INFO fileshare.share" in done.stderr
    assert "a share" in done.stderr
    assert "a statement" not in done.stderr


def test_the_generators_name_what_is_installed():
    known = {
        "config-generator.conf": ("oslo.config.opts", samples.OPTIONS),
        "policy-generator.conf": ("oslo.policy.policies", samples.POLICIES),
    }
    for file, (group, by_default) in known.items():
        installed = {point.name for point in importlib.metadata.entry_points(group=group)}
        lines = (ETC / file).read_text().splitlines()
        named = {line.partition("=")[2].strip() for line in lines if line.startswith("namespace")}
        assert named == set(by_default)
        assert named <= installed


@pytest.mark.parametrize(
    ("program", "file", "wanted"),
    [
        ("config", "config-generator.conf", "#enabled_share_backends ="),
        ("policy", "policy-generator.conf", '#"share:create":'),
    ],
)
def test_the_samples_are_generated(program, file, wanted, tmp_path):
    sample = tmp_path / "sample"
    call = f"from fileshare.cmd import samples; samples.{program}()"
    subprocess.run(
        [sys.executable, "-c", call, "--config-file", str(ETC / file), "--output-file", sample],
        capture_output=True,
        text=True,
        check=True,
    )
    assert any(line.startswith(wanted) for line in sample.read_text().splitlines())


@pytest.mark.parametrize(
    ("program", "options", "wanted"),
    [
        ("config", [], "enabled_share_backends"),
        ("config", ["--format", "yaml"], "enabled_share_backends"),
        ("policy", [], "share:create"),
        ("policy", ["--exclude-deprecated"], "share:create"),
    ],
)
def test_without_a_file_of_its_own_a_generator_prints_everything(program, options, wanted):
    call = f"from fileshare.cmd import samples; samples.{program}()"
    done = subprocess.run(
        [sys.executable, "-c", call, *options], capture_output=True, text=True, check=True
    )
    assert wanted in done.stdout
