"""`course list`."""

from rich.console import Console
from rich.table import Table

from autograder.lesson import list_lessons, load_lesson


def command():
    """The lessons, in route order."""
    table = Table("lesson", "中文", "English", "exercise")
    for folder in list_lessons():
        lesson = load_lesson(folder)
        table.add_row(lesson.slug, lesson.edition("zh").title, lesson.edition("en").title, lesson.checks.function)
    Console().print(table)
