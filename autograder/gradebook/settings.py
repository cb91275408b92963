"""nbgrader's settings for a course folder: our grader, feedback, exporter, late policy and collector in its places.

A course folder's nbgrader_config.py calls `configure(c)`, so `nbgrader autograde`, `formgrader`, `generate_feedback` and
`export` run there with our plugins and give the same rows as `course grade`.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

CONFIG_NAME = "nbgrader_config.py"
CONFIG_TEXT = """\
# nbgrader's settings for this course folder. `configure` puts the course's grader, feedback, exporter, late policy and
# collector in nbgrader's places; what stands below it overrides it.
from autograder.gradebook.settings import configure

c = get_config()  # noqa: F821  (nbgrader defines it)
configure(c, __file__)

# c.CourseDirectory.course_id = "hopper"                                      # needed by nbgrader's exchange only
# c.CourseDirectory.db_url = "postgresql+psycopg://user@host/gradebook"       # default: gradebook.db in this folder
# The late policy is set by `course due LESSON --per-day 10 --grace 15 --at-most 50` and stands in late_policy.json.
"""

POLICY_NAME = "late_policy.json"
NO_POLICY = {"percent_per_day": 0.0, "grace_minutes": 0.0, "percent_at_most": 100.0}  # LatePolicy's own defaults


def read_policy(folder: Path) -> dict[str, float]:
    """The late policy of a course folder, NO_POLICY where none was set. Raises ValueError for a file that is none."""
    try:
        found = json.loads((folder / POLICY_NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return dict(NO_POLICY)
    if (
        not isinstance(found, dict)
        or set(found) != set(NO_POLICY)
        or not all(isinstance(v, (int, float)) for v in found.values())
    ):
        raise ValueError(f"{POLICY_NAME} is no late policy: set it again with `course due`")
    return found


def configure(c, config_file: str | None = None) -> None:
    """Set the plugins in a traitlets config object. $COURSE_DB_URL, where set, names the gradebook.

    config_file: the nbgrader_config.py, in whose folder the late policy stands; None: the working directory, as older files do.
    """
    # nbgrader's own way of making rows, harmless, warned about three times a student by SQLAlchemy 2.1
    warnings.filterwarnings("ignore", message="Object of type <Submitted")
    if os.environ.get("COURSE_DB_URL"):
        c.CourseDirectory.db_url = os.environ["COURSE_DB_URL"]
    # source/ is the released notebook: it holds no solution, and the blank must stay as it is.
    c.ClearSolutions.enabled = False
    c.ClearSolutions.enabled = False  # source/ holds no solution; nbgrader would empty the cells with the blanks
    c.Autograde.exporter_class = "autograder.gradebook.plugins.GradingExporter"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = []
    c.GenerateFeedback.exporter_class = "autograder.gradebook.plugins.FeedbackExporter"
    c.GenerateFeedback.preprocessors = []
    c.AssignLatePenalties.plugin_class = "autograder.gradebook.late.LatePolicy"
    for name, value in read_policy(Path(config_file).parent if config_file else Path.cwd()).items():
        setattr(c.LatePolicy, name, value)
    c.ExportApp.plugin_class = "autograder.gradebook.plugins.CourseExportPlugin"
    c.ZipCollectApp.collector_plugin = "autograder.gradebook.plugins.LmsCollector"
