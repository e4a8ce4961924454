"""`graft completion`: the script that teaches a shell to complete graft's commands."""

import click
from click.shell_completion import get_completion_class

from graft_client.cli.options import GraftCommand
from graft_client.cli.session import Session, with_session

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_GRAFT_COMPLETE"

_WHERE = {
    "bash": 'eval "$(graft completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(graft completion zsh)"   in ~/.zshrc',
    "fish": "graft completion fish > ~/.config/fish/completions/graft.fish",
}

# What click's scripts lack, as texts to replace in them.
_MENDED = {
    # A .zshrc that does not load zsh's completion, such as a new user's, knows no compdef.
    "zsh": (
        "#compdef graft\n",
        "#compdef graft\n\n(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n",
    ),
    # Without an end to the splitting a description ends at its first comma.
    "fish": ('string split ","', 'string split --max 1 ","'),
}


@click.command(cls=GraftCommand)
@click.argument("shell", type=click.Choice(SHELLS))
@with_session
def completion(session: Session, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    Example:
        eval "$(graft completion bash)"
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    script = kind(session.context.find_root().command, {}, "graft", VARIABLE).source()
    if shell in _MENDED:
        script = script.replace(*_MENDED[shell])
    if session.output.as_json:
        session.output.record({"shell": shell, "script": script})
        return
    session.output.text(script)
    if session.output.terminal:
        session.output.say(f"graft: put this to use with: {_WHERE[shell]}")
