"""The student's side: what notebook cells call, `course check` and `course hint`.

Works on a student's machine, where there is no lessons folder: what it needs stands beside the notebook as lesson.json.
A saved notebook is read by the grader's own reading (autograder.submission.read, choose, fill, integrity, own_case: the part that a
student's wheel holds too, see autograder.release.wheel); it knows no hidden check and runs nothing. No package is imported that is not
among the student's requirements.
"""
