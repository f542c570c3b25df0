"""`minicompiler COMMAND`: the shell commands in one place."""

import sys
from typing import Annotated

import typer

from . import doctor as clinic
from .learn import workspace
from .tour import tour

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)
app.command()(tour)
app.add_typer(workspace.app, name="learn")


@app.command()
def doctor() -> None:
    """Is this machine ready? Says what to do where it is not."""
    raise typer.Exit(clinic.main([]))  # type: ignore[no-untyped-call]


@app.command()
def explain(
    target: Annotated[str, typer.Argument(help="FILE:FUNCTION, or the name of a module there")],
    args: Annotated[str, typer.Option(help="arguments, as Python in the file's scope")] = "",
    then: Annotated[str, typer.Option(help="arguments of a second call, as --args")] = "",
    stage: Annotated[str, typer.Option(help="one stage alone, for example loops")] = "",
) -> None:
    """Print what every stage of the compiler makes of a function, and why.

    Without --args the file's `example_inputs` are passed: a tuple, or a function that makes one.
    With --then the function is called once more: `recompiles` says what other arguments compile.
    """
    from . import explaining

    raise typer.Exit(explaining.show(target, args, then, stage))


@app.command()
def bisect(
    target: Annotated[str, typer.Argument(help="FILE:FUNCTION, or the name of a module there")],
    args: Annotated[str, typer.Option(help="arguments, as Python in the file's scope")] = "",
) -> None:
    """Find the stage of the compiler that makes a function differ from eager.

    Ends with status 1, and prints a small program that shows it, where there is one.
    """
    from . import explaining

    raise typer.Exit(explaining.find_divergence(target, args))


def main() -> None:
    sys.exit(app())
