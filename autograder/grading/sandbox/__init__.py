"""A sandbox for the student's code: a warm parent without a view of the machine, and one fresh process a fill."""

from autograder.grading.sandbox.launch import Broken, Limits, Reply, Room, Sandbox, Session
from autograder.grading.sandbox.protections import PROTECTIONS, Protections

__all__ = ["PROTECTIONS", "Broken", "Limits", "Protections", "Reply", "Room", "Sandbox", "Session"]
