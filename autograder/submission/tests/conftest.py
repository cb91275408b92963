from tests.support.grader import lesson, sandbox  # noqa: F401  fixtures
