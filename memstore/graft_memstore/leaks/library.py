"""What detect-secrets finds, driven so that it is bounded, sends nothing and keeps nothing.

Of its plugins we take the regular expressions alone. Its scanners read global settings, log what
they pass over with the secret in it, and ask the makers of tokens over the network whether they
are real; they are never called. Nor is `analyze_string`, which tells no places and, where an
expression has a group for the prefix, gives that for the secret ("ghp").
"""

from collections.abc import Iterator
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from graft_memstore.leaks.placeholders import is_placeholder
from graft_memstore.leaks.spot import Showing, Spot

WINDOW_CHARS = 1_024
"""What a plugin is given at once: some take the square of it in time."""
OVERLAP_CHARS = 256
"""More than the longest token that the plugins know, so that none is cut at a window's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin.

    Attributes:
        needs: texts of which one is in all that it finds; lower case, any case counts.
        whole: its groups are pieces of the secret, else the first is the secret where there is one.
    """

    finds: RegexBasedDetector
    needs: tuple[str, ...]
    showing: Showing = Showing.ENDS
    whole: bool = False


# Left out: the two entropy plugins (every hash, digest, id and commit is a finding), public IPs (no
# secrets), Artifactory (words in capitals); KeywordDetector, IbmCloudIam, IbmCosHmac, Cloudant and
# SoftLayer, whose expressions take minutes for one line of 64 KiB and more than a second for some
# of 1 KiB; JWT, OpenAI, npm and private keys, for which `shapes` has expressions that take linear
# time or know more.
PLUGINS = (
    Plugin(finds=AWSKeyDetector(), needs=("a3t", "abia", "acca", "akia", "asia", "aws")),
    Plugin(finds=AzureStorageKeyDetector(), needs=("accountkey=",)),
    Plugin(finds=BasicAuthDetector(), needs=("://",), showing=Showing.NOTHING),
    Plugin(finds=DiscordBotTokenDetector(), needs=(".",)),
    Plugin(finds=GitHubTokenDetector(), needs=("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), whole=True),
    Plugin(finds=GitLabTokenDetector(), needs=("gl", "gr1348941"), whole=True),
    Plugin(finds=MailchimpDetector(), needs=("-us",)),
    Plugin(finds=PypiTokenDetector(), needs=("pypi-",)),
    Plugin(finds=SendGridDetector(), needs=("sg.",)),
    Plugin(finds=SlackDetector(), needs=("xox", "hooks.slack.com")),
    Plugin(finds=SquareOAuthDetector(), needs=("sq0csp-",)),
    Plugin(finds=StripeDetector(), needs=("k_live_",)),
    Plugin(finds=TelegramBotTokenDetector(), needs=(":",)),
    Plugin(finds=TwilioKeyDetector(), needs=("ac", "sk")),
)


def library_spots(text: str) -> Iterator[Spot]:
    """Give what the plugins find, some of it twice where windows overlap."""
    folded = text.lower()
    wanted = [each for each in PLUGINS if any(need in folded for need in each.needs)]
    step = WINDOW_CHARS - OVERLAP_CHARS
    for begin in range(0, max(len(text) - OVERLAP_CHARS, 1), step):
        window = text[begin : begin + WINDOW_CHARS]
        low = window.lower()
        for plugin in wanted:
            if any(need in low for need in plugin.needs):
                yield from _found(plugin, window, begin)


def _found(plugin: Plugin, window: str, begin: int) -> Iterator[Spot]:
    """Give what a plugin finds in a window, which stands at *begin*."""
    for pattern in plugin.finds.denylist:
        group = 1 if pattern.groups and not plugin.whole else 0
        for match in pattern.finditer(window):
            start, end = match.span(group)
            password = plugin.showing is Showing.NOTHING
            if password and _is_no_password(window, start, match[group]):
                continue
            yield Spot(
                start=begin + start,
                end=begin + end,
                kind=plugin.finds.secret_type,
                showing=plugin.showing,
            )


def _is_no_password(window: str, start: int, value: str) -> bool:
    """Tell whether an address has a placeholder in it, or its user's name twice: a default."""
    user = window[:start].rpartition("://")[2].rstrip(":")
    return value == user or is_placeholder(value)
