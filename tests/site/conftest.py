"""The course's site, built once for the tests of this folder."""

import pytest

from autograder.site import build_site


@pytest.fixture(scope="session")
def built_site(tmp_path_factory):
    """The folder of the student edition, as smalldocs renders it."""
    out = tmp_path_factory.mktemp("site") / "site"
    build_site(out, renderer="smalldocs")
    return out
