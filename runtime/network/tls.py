"""TLS for the ports of ``accord serve`` and the connections of ``accord join``: whom to trust, and who one is.

The streams are anyio's, on every event loop (`runtime.network.anyio_transport`).
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

HANDSHAKE_SECONDS: Final = 10.0
HANDSHAKES_MAX: Final = 256  # under way at a time; who comes then is turned away


class TlsFileError(Exception):
    """A certificate or key can't be used; the text is one sentence for people."""


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return what a server says who it is by: its certificates, its own first, and its key, all PEM.

    Raises:
        TlsFileError: a file can't be read or is none, or the key is another certificate's, or has a passphrase.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    for path in (certificate, key):
        _check_readable(path)
    try:
        context.load_cert_chain(certificate, key, password=_no_passphrase)
    except (ssl.SSLError, ValueError) as error:
        text = f"{certificate} and {key} are no certificate and its key in PEM: {tls_reason(error)}"
        raise TlsFileError(text) from error
    return context


def client_context(authority: Path | None) -> ssl.SSLContext:
    """Return what a client trusts: the certificates in ``authority``, PEM; those of the system if None.

    Raises:
        TlsFileError: the file can't be read, or has no certificate.
    """
    if authority is not None:
        _check_readable(authority)
    try:
        return ssl.create_default_context(cafile=authority)
    except ssl.SSLError as error:
        raise TlsFileError(f"{authority} has no certificate in PEM: {tls_reason(error)}") from error


def tls_reason(error: BaseException) -> str:
    """Say in a few words why a handshake or a file failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"TLS: {error.reason.replace('_', ' ').lower()}"
    return str(error) or type(error).__name__


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase, which nobody is asked for: write it without one")


def _check_readable(path: Path) -> None:
    try:
        path.read_bytes()
    except OSError as error:
        raise TlsFileError(f"{path} cannot be read: {error.strerror}") from error
