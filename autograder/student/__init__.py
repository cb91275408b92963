"""The student's side: what notebook cells call, `course check` and `course hint`.

Works on a student's machine, where there is no lessons folder: what it needs stands beside the notebook as lesson.json.
Imports nothing of the grader, and no package that is not among the student's requirements.
"""
