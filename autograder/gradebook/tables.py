"""Our tables in nbgrader's database: each submission's whole result, committed together with its rows, and what `course review` decided.

The key (assignment, student) with source_hash and rubric_hash says what the rows were made from, so a rerun grades nothing
twice and a change of checks or rubric asks for a regrade.
"""

from __future__ import annotations

from pydantic import ValidationError
from sqlalchemy import Column, DateTime, Float, MetaData, String, Table, Text

from autograder.records import Result

metadata = MetaData()

course_result = Table(
    "course_result",
    metadata,
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("source_hash", String(64), nullable=False),
    Column("rubric_hash", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("total", Float(), nullable=False),
    Column("graded_at", DateTime(), nullable=False),  # UTC
    Column("result", Text(), nullable=False),  # records.Result as JSON
)

course_decision = Table(
    "course_decision",
    metadata,
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("cell", String(128), primary_key=True),  # grade_id
    Column("source_hash", String(64), nullable=False),  # of the hand-in that was looked at
    Column("decision", Text(), nullable=False),  # review.decisions.Decision as JSON: points, who, when
    Column("before", Float(), nullable=True),  # the manual score that stood there before
)


def stored(text: str) -> Result | None:
    """A result as it stands in the table; None of one that today's Result does not accept: another version of the course wrote it, or it is damaged."""
    try:
        return Result.model_validate_json(text)
    except (ValidationError, TypeError):
        return None
