"""A hand-in as text: read against the released notebook, its blank taken out, its checks and locked cells compared, the own case read.

This package and `autograder.student` ship to students, so that a student's own check reads a notebook as grading does. Nothing here runs a
fill, knows a hidden check or scores an answer; what does (`grading`, `answers`, `gradebook`, ...) is imported by neither
(tests/test_boundary.py).
"""
