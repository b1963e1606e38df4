"""A certificate authority that lives as long as its stand-in robot, and the server's certificate signed by it."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass, field
from typing import Any

from bodymotion.spot.client.connecting import vendor

__all__ = ["Certificates", "make_certificates"]

LIFETIME = datetime.timedelta(days=30)
NAMES = ("*.spot.robot", "localhost")
"""The vendor's client calls each service of a robot by a name that ends in spot.robot."""


@dataclass(frozen=True)
class Certificates:
    """As PEM: the authority's certificate, which clients need, and the server's certificate and key."""

    authority: bytes
    server: bytes
    key: bytes = field(repr=False)


def make_certificates() -> Certificates:
    """Make new ones; the authority's key is forgotten at once."""
    x509, ec = vendor("cryptography.x509"), vendor("cryptography.hazmat.primitives.asymmetric.ec")
    usage = vendor("cryptography.x509.oid").ExtendedKeyUsageOID
    coding = vendor("cryptography.hazmat.primitives.serialization")
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root_name, name = _named("bodymotion rehearsal authority"), _named("bodymotion rehearsal")
    root = (
        _begun(root_name, root_name, root_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(root_key, vendor("cryptography.hazmat.primitives.hashes").SHA256())
    )
    others = [x509.DNSName(other) for other in NAMES] + [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    server = (
        _begun(name, root_name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(others), critical=False)
        .add_extension(x509.ExtendedKeyUsage([usage.SERVER_AUTH]), critical=False)
        .sign(root_key, vendor("cryptography.hazmat.primitives.hashes").SHA256())
    )
    pem = coding.Encoding.PEM
    return Certificates(
        root.public_bytes(pem),
        server.public_bytes(pem),
        key.private_bytes(pem, coding.PrivateFormat.PKCS8, coding.NoEncryption()),
    )


def _named(text: str) -> Any:  # noqa: ANN401
    x509 = vendor("cryptography.x509")
    return x509.Name([x509.NameAttribute(vendor("cryptography.x509.oid").NameOID.COMMON_NAME, text)])


def _begun(subject: Any, issuer: Any, key: Any) -> Any:  # noqa: ANN401
    x509 = vendor("cryptography.x509")
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
    )
