"""`minicompiler COMMAND`: the shell commands in one place."""

import sys

import typer

from . import doctor as clinic
from .tour import tour

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)
app.command()(tour)


@app.command()
def doctor() -> None:
    """Is this machine ready? Says what to do where it is not."""
    raise typer.Exit(clinic.main([]))  # type: ignore[no-untyped-call]


def main() -> None:
    sys.exit(app())
