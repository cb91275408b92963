"""The site that browser tests look at, built once."""

import pytest

from autograder.site import build_site
from tests.support.browser import chromium, served


@pytest.fixture(scope="session")
def built_site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    build_site(out, renderer="smalldocs", bundles=True)
    return out


@pytest.fixture(scope="module")
def site(built_site):
    """(address, browser)"""
    with served(built_site) as address, chromium() as browser:
        yield address, browser
