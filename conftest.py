"""For every test of the project: what a test needs and the machine lacks is skipped, and said at the end, a line each (tests/support/needs.py)."""

import sys

import pytest

from tests.support.needs import NEEDS, SKIP, is_here, lines
from tests.support.sample import divide


def pytest_configure(config):
    for key, need in NEEDS.items():
        config.addinivalue_line("markers", f"{key}: needs {need.name}")


def pytest_addoption(parser):
    parser.addoption(
        "--sample-lessons",
        action="store_true",
        help="of the tests that hold every lesson to the same demands, run those of a few lessons (tests/support/sample.py)",
    )


def pytest_collection_modifyitems(config, items):
    if config.getoption("--sample-lessons"):
        kept, left = divide(items)
        items[:] = kept
        config.hook.pytest_deselected(items=left)
    for item in items:
        for key in NEEDS:
            if item.get_closest_marker(key) and not is_here(key):
                item.add_marker(pytest.mark.skip(reason=SKIP + key))
                break


def pytest_terminal_summary(terminalreporter):
    reports = [r for r in terminalreporter.stats.get("skipped", ()) if isinstance(r.longrepr, tuple)]
    if said := lines([r.longrepr[2].removeprefix("Skipped: ") for r in reports]):
        terminalreporter.section("not run on this machine")
        for line in said:
            terminalreporter.line(line)


@pytest.fixture(autouse=True)
def _english():
    """A test that opened a Chinese notebook leaves the kernels of this process speaking Chinese."""
    yield
    if "kernels.wording" in sys.modules:
        sys.modules["kernels.wording"].speak("en")
