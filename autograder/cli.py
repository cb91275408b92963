"""The command `course`. Each command lives in autograder/commands/<name>.py and is imported only when it is called."""

from __future__ import annotations

import codecs
import difflib
import importlib
import importlib.metadata
import importlib.util
import sys

import typer

from autograder.errors import CourseError

# name -> one line for --help; the module in autograder.commands has the same name
COMMANDS = {
    "doctor": "What is here, what is missing, how to get it.",
    "list": "The lessons, in route order.",
    "new": "Lay out an empty lesson.",
    "lint": "Hold lessons to the form; say what is missing and how to mend it.",
    "claims": "Work out the figures that lessons state; say which are wrong or out of date.",
    "release": "Make the student's bundle and nbgrader's source and release folders.",
    "check": "A student's own check of a notebook before handing it in.",
    "hint": "A hint for a lesson, level 1 to 4.",
    "run": "Run a kernel on the GPU or the emulator.",
    "races": "Run a kernel over many seeds and report races and deadlocks.",
    "bench": "Measure kernels on a GPU and write figures with receipts.",
    "roster": "Tell the course who is who, from Moodle's or Canvas's class list.",
    "collect": "Sort a Canvas or Moodle download into a course folder.",
    "grade": "Grade a folder of submissions.",
    "review": "Decide what waits for a person, in groups, on a local page.",
    "score-answers": "Score free-text answers from a JSONL file.",
    "report": "A class report for a lesson.",
    "feedback": "Write the students' feedback pages.",
    "export": "Export grades as csv, for Canvas or for Moodle.",
    "due": "Due date, extensions and late penalties of a lesson.",
    "site": "Build the course website.",
    "preview": "Build the website and serve it on this machine.",
    "demo": "Release lesson 7, grade the sample class, build the website.",
}


def _module(name: str) -> str:
    return "autograder.commands." + name.replace("-", "_")


def _here() -> dict[str, str]:
    """The commands of this install: a student's has only the student's part."""
    return {name: line for name, line in COMMANDS.items() if importlib.util.find_spec(_module(name))}


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{line}" for name, line in _here().items()]
    return "\n".join(
        [
            "Usage: course COMMAND [ARGS]...",
            "",
            "Hopper GPU kernels taught by doing: lessons, kernels, grader and website.",
            "",
            "Commands:",
            *lines,
            "",
            "course COMMAND --help says more. course --version prints the version.",
        ]
    )


# What stands for a character that the console's encoding lacks (GBK, ASCII): a sign keeps its meaning, anything else becomes "?".
_PLAIN = {"✔": "[ok]", "✓": "[ok]", "✘": "[!!]", "✗": "[!!]", "○": "[ ]", "→": "->", "·": "-", "–": "-"}


def _any_console() -> None:
    """Let every console show what it can of a text, in place of a UnicodeEncodeError half way through it."""
    codecs.register_error("course", lambda e: ("".join(_PLAIN.get(c, "?") for c in e.object[e.start : e.end]), e.end))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="course")


def _skip_slow_imports() -> None:
    """jsonschema imports rfc3987_syntax where it is installed, which builds a parser for a format that no notebook uses: 0.8 s of each command."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  (None: as if it were not installed)


def run(argv: list[str]) -> None:
    """Run one command; raises SystemExit with its status. CourseError and KernelError become one message on stderr and status 1."""
    _any_console()
    _skip_slow_imports()
    name, *rest = argv or ["--help"]
    if name in ("-h", "--help"):
        typer.echo(_help())
        sys.exit(0 if argv else 2)
    if name == "--version":
        typer.echo(f"course {importlib.metadata.version('hopper-course')}")
        sys.exit(0)
    try:
        if name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            raise CourseError(
                f"There is no command {name!r}.",
                remedy=(f"Did you mean {near[0]}? " if near else "") + "`course --help` lists all.",
            )
        if name not in _here():
            raise CourseError(
                f"`course {name}` is not part of the student's install.", remedy="Run it in a checkout of the course."
            )
        _refuse_empty(rest)
        app = typer.Typer(
            add_completion=False,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        app.command()(importlib.import_module(_module(name)).command)
        app(args=rest, prog_name=f"course {name}")
    except CourseError as e:
        _fail(e)
    except Exception as e:
        kernels = sys.modules.get("kernels")  # only a command that loaded it can raise its errors
        if kernels is None or not isinstance(e, kernels.KernelError):
            raise
        _fail(e)


def _refuse_empty(arguments: list[str]) -> None:
    """No argument of any command may be empty: an empty path would be the current folder, an empty address none at all."""
    for before, argument in zip(["", *arguments], arguments):
        option, is_one, value = (
            argument.partition("=")
            if argument.startswith("--")
            else (before if before.startswith("-") else "", "=", argument)
        )
        if is_one and not value.strip():
            raise CourseError(
                f"{option or 'An argument'} is empty.",
                remedy="Give it a value or leave it out; perhaps a shell variable is not set.",
            )


def _fail(e: Exception) -> None:
    typer.echo(f"course: {e}", err=True)
    sys.exit(1)


def main() -> None:
    """Entry point of the console script."""
    run(sys.argv[1:])


if __name__ == "__main__":
    main()
