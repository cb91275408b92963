"""nbgrader's settings for a course folder: our grader, feedback, exporter, late policy and collector in its places.

A course folder's nbgrader_config.py calls `configure(c)`, so `nbgrader autograde`, `formgrader`, `generate_feedback` and
`export` run there with our plugins and give the same rows as `course grade`.
"""

from __future__ import annotations

import os
import warnings

CONFIG_NAME = "nbgrader_config.py"
CONFIG_TEXT = """\
# nbgrader's settings for this course folder. `configure` puts the course's grader, feedback, exporter, late policy and
# collector in nbgrader's places; what stands below it overrides it.
from autograder.gradebook.settings import configure

c = get_config()  # noqa: F821  (nbgrader defines it)
configure(c)

# c.CourseDirectory.course_id = "hopper"                                      # needed by nbgrader's exchange only
# c.CourseDirectory.db_url = "postgresql+psycopg://user@host/gradebook"       # default: gradebook.db in this folder
# c.LatePolicy.grace_minutes = 10
# c.LatePolicy.percent_per_day = 10.0                                         # of the points reached, each started day
# c.LatePolicy.percent_at_most = 50.0
"""


def configure(c) -> None:
    """Set the plugins in a traitlets config object. $COURSE_DB_URL, where set, names the gradebook."""
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
    c.ExportApp.plugin_class = "autograder.gradebook.plugins.CourseExportPlugin"
    c.ZipCollectApp.collector_plugin = "autograder.gradebook.plugins.LmsCollector"
