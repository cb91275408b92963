"""The late policy, through nbgrader's own plugin: no penalty unless the course's settings ask for one."""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float


class LatePolicy(LateSubmissionPlugin):
    """A share of the points reached for each started day after the due date (with the student's extension)."""

    grace_minutes = Float(0.0, min=0.0, help="Minutes after the due date that cost nothing.").tag(config=True)
    percent_per_day = Float(0.0, min=0.0, max=100.0, help="Percent of the points reached, for each started day.").tag(
        config=True
    )
    percent_at_most = Float(
        100.0, min=0.0, max=100.0, help="No penalty is larger than this percent of the points reached."
    ).tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Points taken away, or None. score: points reached; total_seconds_late: after the due date and any extension."""
        if self.penalty_method != "none":
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        beyond = total_seconds_late - 60 * self.grace_minutes
        if beyond <= 0 or not self.percent_per_day:
            return None
        days = math.ceil(beyond / 86400)
        return round(score * min(days * self.percent_per_day, self.percent_at_most) / 100, 4)


def penalty_for(config, student: str, score: float, seconds_late: float) -> float | None:
    """What nbgrader's AssignLatePenalties would store for this submission, with the plugin that the settings name."""
    if seconds_late <= 0:
        return None
    from nbgrader.preprocessors import AssignLatePenalties

    step = AssignLatePenalties(config=config)
    step.init_plugin()
    penalty = step.plugin_inst.late_submission_penalty(student, score, seconds_late)
    return None if penalty is None else min(max(penalty, 0.0), score)
