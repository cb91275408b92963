"""What nbgrader runs in a course folder in its own places: grading, feedback, export, collecting.

nbgrader's converters hand a notebook's path to an exporter and write what it returns. So the exporter is where our grader
takes part: nothing a student wrote runs in nbgrader's process, and an unreadable file is graded as UNGRADED, not an error.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path

from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.plugins import ExportPlugin, FileNameCollectorPlugin

from autograder.gradebook.collect import recognise
from autograder.gradebook.course import CourseFolder
from autograder.lesson import Lesson, load_lesson


@lru_cache(maxsize=8)
def _lesson(slug: str) -> Lesson:
    return load_lesson(slug)


class GradingExporter(NotebookExporter):
    """nbgrader autograde: its first pass grades and writes the rows, its second pass keeps the notebook as it is."""

    def from_filename(self, filename, resources=None, **kw):
        converter, place = self.parent, resources["nbgrader"]
        resources.setdefault("output_extension", ".ipynb")
        resources.setdefault("outputs", {})
        path = Path(filename)
        if not converter._sanitizing:
            return path.read_text(encoding="utf-8"), resources
        from autograder.gradebook.assignment import ensure_assignment
        from autograder.gradebook.autograded import shown_text
        from autograder.gradebook.journal import Entry
        from autograder.gradebook.late import penalty_for
        from autograder.gradebook.stamps import read_timestamp, with_stamp
        from autograder.gradebook.store import Writer
        from autograder.gradebook.submissions import hand_in
        from autograder.grading import grade_notebook
        from autograder.grading.pipeline import rubric_hash
        from autograder.records import Result
        from autograder.review.apply import from_store
        from autograder.review.decisions import Decisions

        lesson = _lesson(place["assignment"])
        course = CourseFolder(Path(converter.coursedir.root), db_url=place["db_url"])
        stamp = read_timestamp(path.parent / "timestamp.txt")
        taken, digest = hand_in(lesson, path.parent)  # `path` may be an untouched one beside it
        result = (
            grade_notebook(lesson, taken, place["student"])
            if isinstance(taken, Path)
            else Result.ungraded(place["student"], lesson.slug, taken)
        )
        result = with_stamp(from_store(result, Decisions.load(course.root, lesson.slug), lesson.rubric), stamp)
        text = shown_text(lesson, path.parent, result)
        with course.gradebook(write=True) as gradebook:
            ensure_assignment(gradebook, course, lesson)
            writer = Writer(gradebook, lesson.slug, lesson.rubric, partial(penalty_for, self.config))
            writer.write([Entry(place["student"], digest, rubric_hash(lesson), stamp.time, result)])
        return text, resources


class FeedbackExporter(HTMLExporter):
    """nbgrader generate_feedback: the course's feedback page instead of the student's notebook as HTML."""

    def from_filename(self, filename, resources=None, **kw):
        from autograder.feedback.page import render_page
        from autograder.gradebook.final import read_finals
        from autograder.gradebook.late import penalty_for

        place = resources["nbgrader"]
        resources.setdefault("output_extension", ".html")
        resources.setdefault("outputs", {})
        lesson = _lesson(place["assignment"])
        course = CourseFolder(Path(self.parent.coursedir.root), db_url=place["db_url"])
        with course.gradebook(must_exist=True) as gradebook:
            finals = read_finals(gradebook, lesson, partial(penalty_for, self.config), [place["student"]])
        if not finals:
            raise ValueError(f"{place['student']} has not been graded in {lesson.slug}; run nbgrader autograde first")
        if finals[0].unread:
            raise ValueError(finals[0].result.why[0])
        return render_page(lesson, finals[0]), resources


class CourseExportPlugin(ExportPlugin):
    """nbgrader export: one CSV over all lessons, with state and reasons; an ungraded submission is empty, not 0."""

    def export(self, gradebook) -> None:
        from autograder.export.formats import csv_rows, to_csv
        from autograder.gradebook.course import write_output
        from autograder.gradebook.final import read_finals
        from autograder.gradebook.late import penalty_for
        from autograder.gradebook.tables import metadata

        metadata.create_all(gradebook.engine)
        chosen, students = {str(a) for a in self.assignment}, [str(s) for s in self.student] or None
        rows: list[list] = []
        for assignment in gradebook.assignments:
            if chosen and assignment.name not in chosen:
                continue
            lines = list(
                csv_rows(
                    lesson := _lesson(assignment.name),
                    read_finals(gradebook, lesson, partial(penalty_for, self.config), students),
                )
            )
            rows += lines[1:] if rows else lines
        target = Path(self.to or "grades.csv")
        self.log.info("Exporting grades to %s", target)
        write_output(
            target, to_csv(rows), CourseFolder(Path(self.parent.coursedir.root), db_url=self.parent.coursedir.db_url)
        )


class LmsCollector(FileNameCollectorPlugin):
    """nbgrader zip_collect: Canvas's and Moodle's file names without a regular expression of the instructor's own."""

    def collect(self, submitted_file: str):
        if self.named_regexp:
            return super().collect(submitted_file)
        found = recognise(Path(submitted_file))
        if found is None or Path(submitted_file).suffix not in self.valid_ext:
            return None
        return {"student_id": found.student, "file_id": self.parent.coursedir.assignment_id}
