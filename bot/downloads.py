"""The bytes of files shared in Slack, fetched with the bot's token from Slack's own hosts and from nowhere else."""

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from knowledge.errors import DocumentUnreadable, SourceFailed

Json = Mapping[str, Any]

TIMEOUT_S = 30.0
HOSTS = (".slack.com", ".slack-gov.com")
TRIES = 3
PAGE_OF_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
HTML_NAMES = (".html", ".htm", ".xhtml")


class Downloads:
    """`api_url`: of the Web API; its host is one of Slack's too. `patience_s`: the longest wait that Slack may ask for."""

    def __init__(self, token: str, api_url: str, limit_mb: float, patience_s: float) -> None:
        self._token = token
        self._own = urlsplit(api_url)
        self._limit_mb = limit_mb
        self._patience_s = patience_s
        # A redirect to another host goes without the token.
        self._client = httpx2.Client(timeout=TIMEOUT_S, follow_redirects=True, max_redirects=3)

    def close(self) -> None:
        self._client.close()

    def fetch(self, file: Json) -> bytes:
        """The content of a file object. Raises `DocumentUnreadable` for one that is too large, else `SourceFailed`."""
        url = str(file.get("url_private_download") or file.get("url_private") or "")
        if not self._is_slack(url):
            raise SourceFailed("its address is not one of Slack's, so the bot's token is not sent there")
        if int(file.get("size") or 0) > self._limit_mb * 1_000_000:
            raise self._too_big()
        try:
            content, kind = self._get(url)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SourceFailed(f"Slack did not hand it over ({type(error).__name__})") from error
        if is_login_page(file, content, kind):
            raise SourceFailed(
                "Slack answered with a web page instead of the file: missing files:read scope? "
                "Add it to the app, reinstall the app, and check SLACK_BOT_TOKEN"
            )
        return content

    def _get(self, url: str) -> tuple[bytes, str]:
        """Body and content type."""
        for _ in range(TRIES):
            with self._client.stream("GET", url, headers={"authorization": f"Bearer {self._token}"}) as response:
                wait_s = response.headers.get("retry-after", "1")
                if response.status_code == 429 and wait_s.isdigit() and int(wait_s) <= self._patience_s:
                    time.sleep(int(wait_s))
                    continue
                if response.status_code != 200:
                    raise SourceFailed(f"Slack did not hand it over (HTTP status {response.status_code})")
                content = b""
                for part in response.iter_bytes():
                    content += part
                    if len(content) > self._limit_mb * 1_000_000:
                        raise self._too_big()
                return content, response.headers.get("content-type", "")
        raise SourceFailed("Slack asks for fewer downloads for now (HTTP status 429)")

    def _is_slack(self, url: str) -> bool:
        parts = urlsplit(url)
        own = (parts.scheme, parts.netloc) == (self._own.scheme, self._own.netloc)
        return own or (parts.scheme == "https" and (parts.hostname or "").endswith(HOSTS))

    def _too_big(self) -> DocumentUnreadable:
        return DocumentUnreadable(
            "too_big", f"too large: more than {self._limit_mb:g} MB; raise max_file_mb to read it"
        )


def is_login_page(file: Json, content: bytes, content_type: str) -> bool:
    """Whether HTML came for a file that is none, or for one that is, of another size than Slack says it has."""
    if not (content_type.startswith("text/html") or PAGE_OF_HTML.match(content)):
        return False
    said = str(file.get("mimetype") or "").startswith("text/html") or str(file.get("name")).lower().endswith(HTML_NAMES)
    return not said or len(content) != int(file.get("size") or 0)
