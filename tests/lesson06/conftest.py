import sys

from autograder.paths import course_root

# figures/ is run from the checkout and is not installed
sys.path.insert(0, str(course_root()))
