"""Why a memstore on TCP cannot be reached: what gRPC keeps to itself, found out by connecting."""

import socket
import ssl
import tempfile
from pathlib import Path

from graft.wire.endpoints import Endpoint, Trust

LOOK_SECONDS = 2.0
HTTP2 = "h2"
OWN = "where it asks for a certificate of yours, name that with tls_cert and tls_key"


def tls_context(trust: Trust) -> ssl.SSLContext:
    """Return what TLS is spoken with, for who does without gRPC.

    Raises:
        ssl.SSLError, OSError, ValueError: what *trust* holds cannot be used.
    """
    roots = None if trust.roots is None else trust.roots.decode("ascii")
    context = ssl.create_default_context(cadata=roots)
    context.set_alpn_protocols([HTTP2])
    if trust.certificate is not None and trust.key is not None:
        # The library takes this from a file alone.
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(trust.certificate + b"\n" + trust.key)
            file.flush()
            context.load_cert_chain(file.name, password=lambda: "")
    return context


def why_unreachable(at: Path | Endpoint, trust: Trust) -> str:
    """Say why no call gets to *at*; empty where that cannot be told."""
    if isinstance(at, Path):
        return ""
    try:
        with socket.create_connection((at.host, at.port), timeout=LOOK_SECONDS) as connection:
            return _why_no_tls(connection, at, trust) if at.tls else ""
    except socket.gaierror:
        return f"no machine is known as {at.host}"
    except OSError as error:
        return f"no connection ({error.strerror or error})"


def _why_no_tls(connection: socket.socket, at: Endpoint, trust: Trust) -> str:
    try:
        context = tls_context(trust)
    except (ssl.SSLError, OSError, ValueError) as error:
        return f"tls_ca, tls_cert or tls_key cannot be used ({error})"
    try:
        with context.wrap_socket(connection, server_hostname=at.host) as encrypted:
            # With TLS 1.3 the other end looks at our certificate after its own part is done.
            return "" if encrypted.recv(1) else f"it closes the connection at once; {OWN}"
    except ssl.SSLError as error:
        return _in_words(error)
    except TimeoutError:
        return ""
    except OSError as error:
        return f"the connection was closed while TLS began ({error.strerror or error})"


def _in_words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({error.verify_message}); name the certificates that"
            " it comes from with tls_ca (GRAFT_TLS_CA)"
        )
    if "CERTIFICATE_REQUIRED" in (error.reason or ""):
        return OWN
    return f"no TLS is spoken there, or not as here ({error.reason or error})"
