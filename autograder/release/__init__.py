"""Release: a lesson made into the student's notebook and bundle, and nbgrader's source and release folders."""
