"""Grading of the blank: nothing in a submission but its blank and its answers can change its score."""
