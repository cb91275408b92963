"""`python -m autograder.site.authoring`: draws the diagrams that are missing and removes those that belong to nothing."""

from autograder.site.authoring.diagrams import draw_all, problems

for path in draw_all():
    print(path)
print("\n".join(problems()) or "Every diagram is drawn.")
