"""The command `course`. Each command lives in autograder/commands/<name>.py and is imported only when it is called."""

from __future__ import annotations

import importlib
import sys

import click
import typer

from autograder.errors import CourseError

# name -> (module in autograder.commands, one line for --help)
COMMANDS = {
    "doctor": "What is here, what is missing, how to get it.",
    "list": "The lessons, in route order.",
    "lint": "Hold lessons to the form; say what is missing and how to mend it.",
    "release": "Make the student's bundle and nbgrader's source and release folders.",
    "check": "A student's own check of a notebook before handing it in.",
    "hint": "A hint for a lesson, level 1 to 4.",
    "run": "Run a kernel on the GPU or the emulator.",
    "races": "Run a kernel over many seeds and report races and deadlocks.",
    "bench": "Measure kernels on a GPU and write figures with receipts.",
    "grade": "Grade a folder of submissions.",
    "score-answers": "Score free-text answers from a JSONL file.",
    "report": "A class report for a lesson.",
    "feedback": "Write the students' feedback pages.",
    "export": "Export grades as csv, for Canvas or for Moodle.",
    "site": "Build the course website.",
    "preview": "Build the website and serve it on this machine.",
    "demo": "Release lesson 7, grade the sample class, build the website.",
}


class _Lazy(click.Group):
    """Loads a command's module when it is asked for: `course check` must not pay for nbgrader's import."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        module = importlib.import_module("autograder.commands." + name.replace("-", "_"))
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name)(module.command)
        return typer.main.get_command(app)

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hopper-course", prog_name="course")
def _course():
    """Hopper GPU kernels taught by doing: lessons, kernels, grader and website."""


def main() -> None:
    """Entry point. CourseError and KernelError become one message on stderr and exit status 1."""
    import kernels

    try:
        _course()
    except (CourseError, kernels.KernelError) as e:
        click.echo(f"course: {e}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
