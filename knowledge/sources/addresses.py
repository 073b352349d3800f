"""Requests that cannot be led into the internal network: every hop is resolved, checked, and sent to what was checked."""

import ipaddress
import socket

import httpx2

from knowledge.errors import SourceFailed

_TRANSLATED = tuple(
    ipaddress.ip_network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)
"""IPv6 ranges that carry an IPv4 address, which may be a private one."""


class GuardedTransport(httpx2.BaseTransport):
    """Refuses addresses that are not public, whatever name, number or redirect led to them.

    `allow_private`: for sites of the own network, by the administrator's word.
    """

    def __init__(self, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `SourceFailed` before anything is sent."""
        host = request.url.host
        address = checked_address(str(request.url), self._allow_private)
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return self._inner.handle_request(pinned)

    def close(self) -> None:
        self._inner.close()


def checked_address(url: str, allow_private: bool) -> str:
    """The address that the URL's host has now. Raises `SourceFailed` when it must not be asked, or has none."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SourceFailed(f"{url!r} is not an address: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SourceFailed(f"{url!r} is not an address of a web page; only http and https are read")
    try:
        found = socket.getaddrinfo(parsed.host, parsed.port or 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SourceFailed(f"{parsed.host!r} has no address: {error.strerror}") from error
    addresses = [str(entry[4][0]).split("%")[0] for entry in found]
    private = [address for address in addresses if not is_public(address)]
    if private and not allow_private:
        raise SourceFailed(
            f"{url!r} leads to {private[0]}, which is not a public address; "
            "set allow_private_addresses if the site is meant to be in your own network"
        )
    return addresses[0]


def is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _TRANSLATED):
            return False
    return ip.is_global and not ip.is_multicast
