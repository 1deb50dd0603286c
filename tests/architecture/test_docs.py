"""The manual can be built, and what it says is there."""

from __future__ import annotations

import ast
import configparser
import importlib
import importlib.util
import itertools
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from oslo_config import generator

from fileshare import errors
from fileshare.cmd import manage
from fileshare.conf import backend, opts
from fileshare.domain.lifecycle import LIFECYCLES
from fileshare.drivers import loader

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "doc" / "ext"))

import reference  # noqa: E402  (its directory is entered above)

GENERATED = ("doc/source/reference/api", "doc/source/contributor/decisions", "doc/build")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "doc" / "adr").glob("*.md")),
    *sorted((ROOT / "api-ref" / "source").glob("*.md")),
    *(
        page
        for page in sorted((ROOT / "doc" / "source").rglob("*.md"))
        if not str(page.relative_to(ROOT)).startswith(GENERATED)
    ),
]
each = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

# What tools make; it is named and not there.
MADE = re.compile(r"devstack/\.|\.sample$|/build/")


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("sphinx", "myst_parser")),
    reason="Sphinx and myst-parser are not installed (the extra docs)",
)
@pytest.mark.parametrize("book", ["doc", "api-ref"])
def test_it_builds_without_a_warning(book, tmp_path):
    # A copy, so that a build by hand at the same time is not disturbed.
    for name in ("doc", "api-ref"):
        leave = shutil.ignore_patterns("build", "api", "decisions", "resources", "openapi")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=leave)
    shutil.copytree(ROOT / "tests" / "contract", tmp_path / "tests" / "contract")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
         tmp_path / book / "source", tmp_path / "html"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "index.html").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("reno") is None or not (ROOT / ".git").exists(),
    reason="reno is not installed, or this is no git tree",
)
def test_release_notes_are_in_order():
    reno = "from reno.main import main; import sys; sys.exit(main(['--quiet', 'lint', '.']))"
    done = subprocess.run(
        [sys.executable, "-c", reno], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_decisions_have_their_parts():
    names = sorted(path.stem for path in (ROOT / "doc" / "adr").glob("*.md"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    for name in names:
        text = (ROOT / "doc" / "adr" / f"{name}.md").read_text()
        heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert heads == ["Context", "Decision", "Consequences"], name
        assert len(text.splitlines()) < 70, f"{name} is longer than a page"


def test_every_error_is_in_the_manual_once():
    codes = [cls.code for cls in reference.tables.known_errors()]
    assert {cls.code for cls in errors.catalogue()} == set(codes)
    assert len(set(codes)) == len(codes)
    shown = reference.BLOCKS["errors"]()
    for code in codes:
        assert shown.count(f"| `{code}` |") == 1


def test_every_option_has_help_and_is_in_the_manual():
    shown = reference.BLOCKS["options"]() + reference.BLOCKS["driver-options"]()
    for _, found in [*opts.list_opts(), *loader.list_opts()]:
        for option in found:
            assert option.help, option.name
            assert f"\n`{option.dest}`\n: " in f"\n{shown}"


def test_every_verb_is_in_the_manual():
    shown = reference.BLOCKS["lifecycles"]()
    for life in LIFECYCLES.values():
        assert f"\n## {life.resource}\n" in shown
        for verb in life:
            assert f"| `{verb.name}` |" in shown


def test_the_diagram_names_every_status():
    for life in LIFECYCLES.values():
        drawn = reference.tables.dot(life)
        for status in life.settled | life.transient:
            assert f'"{status}"' in drawn


def test_every_route_is_in_the_manual():
    pages = reference.PAGES["api"]()
    for name, operations in reference.api.families().items():
        for operation in operations:
            path = "/" if operation.path == "/" else f"/v2{operation.path}"
            assert f"`{operation.method} {path}`" in pages[name]
            for field in operation.body.fields if operation.body else ():
                assert field.name == "*" or f"`{field.name}`" in pages[name]


ABSENT = {
    "Snapshots": "snapshots",
    "replicas": "share_replicas",
    "share networks": "share_networks",
    "groups": "share_groups",
    "backups": "share_backups",
}


def test_what_the_readme_says_is_not_served_is_not():
    text = " ".join((ROOT / "README.md").read_text().split())
    sentence = re.search(r"([^.]+) are not served yet\.", text)
    served = [
        family
        for family, routes in reference.coverage.families().items()
        if len(reference.coverage.absent(routes)) < len({route["id"] for route in routes}) / 2
    ]
    said = sentence[1] if sentence else ""
    for word, family in ABSENT.items():
        assert (word in said) == (family not in served), f"README: {word}"


def test_marks_are_replaced():
    assert "`quota.exceeded`" in reference.fill("# Errors\n\n<!-- generated: errors -->\n")
    with pytest.raises(KeyError):
        reference.fill("<!-- generated: nothing -->")


def test_pages_that_are_no_more_go_away(tmp_path):
    reference.write_pages(tmp_path, {"one": "1", "two": "2"})
    reference.write_pages(tmp_path, {"two": "2", "three": "3"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["three.md", "two.md"]


@each
def test_paths_that_it_names_are_there(page):
    text = page.read_text()
    quoted = itertools.chain.from_iterable(
        re.findall(r"[\w./#-]+", span) for span in re.findall(r"`([^`\n]+)`", text)
    )
    roots = ("fileshare/", "tests/", "doc/", "devstack/", "etc/fileshare", "releasenotes/")
    for path in {word.rstrip(".,") for word in quoted if word.startswith(roots)}:
        # In capitals: what the reader puts there.
        if not MADE.search(path) and not re.search(r"[A-Z]{4}", path):
            assert (ROOT / path).exists(), path
    # Modules are named from the program's directory, too.
    for path in re.findall(r"`((?:api|cmd|db|domain|drivers|intents|rpc)/[\w/]+\.py)[`:]", text):
        assert (ROOT / "fileshare" / path).exists(), path


@each
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@each
def test_commands_that_it_shows_are_there(page):
    text = page.read_text()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    shown = re.findall(r"^[$#] (?:\S*/)?(fileshare-[a-z-]+)", text, re.MULTILINE)
    assert set(shown) <= set(scripts)
    managed = re.findall(r"fileshare-manage(?: --config-file \S+)? ([a-z-]+)( [a-z-]+)?", text)
    for first, second in managed:
        assert {first, first + second} & set(manage.COMMANDS), first + second
    environments = re.findall(r"tox -e ([a-z-]+)", text)
    for environment in environments:
        assert environment in (ROOT / "tox.ini").read_text(), environment


@each
def test_python_that_it_shows_is_right(page):
    for block in re.findall(
        r"^ *```python\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL
    ):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module:
                _check_import(node)


def _check_import(node):
    """What is imported is there; «things» stands for a resource of the reader's."""
    for alias in node.names:
        if alias.name != "things":
            module = importlib.import_module(node.module)
            assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


def _known_options():
    known: dict[str, set[str]] = {}
    lines = (ROOT / "etc" / "fileshare" / "config-generator.conf").read_text().splitlines()
    names = [line.partition("=")[2].strip() for line in lines if line.startswith("namespace")]
    for _, found in generator._list_opts(names):
        for group, group_opts in found:
            name = getattr(group, "name", group) or "DEFAULT"
            known.setdefault(name, set()).update(option.dest for option in group_opts)
    # The plug-in of keystoneauth brings its own.
    known["keystone_authtoken"] |= {
        "auth_url", "username", "password", "project_name",
        "user_domain_id", "project_domain_id",
    }  # fmt: skip
    known[backend.GROUP] |= {option.dest for _, found in loader.list_opts() for option in found}
    return known


@each
def test_options_that_it_sets_are_there(page):
    blocks = re.findall(r"^```ini\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    known = _known_options() if blocks else {}
    for block in blocks:
        parsed = configparser.ConfigParser(default_section="", interpolation=None)
        parsed.optionxform = str
        parsed.read_string(block)
        for section in parsed.sections():
            options = known.get(section, known[backend.GROUP])
            assert set(parsed[section]) <= options, f"[{section}]"
