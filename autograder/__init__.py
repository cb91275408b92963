"""The course's tools: lessons as data, the student's notebook, the grader, the website, and the command `course`."""
