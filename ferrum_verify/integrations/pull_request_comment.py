"""The comment on a pull request: one, written anew each time, never a second one.

``python -m ferrum_verify.integrations.pull_request_comment FILE`` is a step of the GitHub
Action. It takes what GitHub sets for a step (``GITHUB_API_URL``, ``GITHUB_REPOSITORY``),
``PULL_REQUEST``, the number, and ``GITHUB_TOKEN``.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ferrum_verify.findings.errors import FerrumVerifyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "<!-- ferrum-verify: this comment is written anew at each run -->"
_PER_PAGE = 100
_SECONDS = 30


class CommentError(FerrumVerifyError):
    """The comment could not be posted."""


def post_comment(text: str, environment: Mapping[str, str]) -> str:
    """Replace the comment of an earlier run by ``text``, or post the first; give its address.

    Raises ``CommentError`` with a sentence where GitHub does not take it.
    """
    try:
        api, repository = environment["GITHUB_API_URL"], environment["GITHUB_REPOSITORY"]
        number, token = environment["PULL_REQUEST"], environment["GITHUB_TOKEN"]
    except KeyError as missing:
        raise CommentError(f"{missing.args[0]} is not set, so nothing can be posted.") from None
    comments = f"{api}/repos/{repository}/issues/{number}/comments"
    body = {"body": f"{MARK}\n{text}"}
    earlier = _earlier_comment(comments, token)
    if earlier is None:
        posted = _ask("POST", comments, token, body)
    else:
        address = f"{api}/repos/{repository}/issues/comments/{earlier}"
        posted = _ask("PATCH", address, token, body)
    return str(posted.get("html_url", comments))


def _earlier_comment(comments: str, token: str) -> int | None:
    page = 1
    while True:
        found = _ask("GET", f"{comments}?per_page={_PER_PAGE}&page={page}", token)
        for comment in found:
            if str(comment.get("body", "")).startswith(MARK):
                return int(comment["id"])
        if len(found) < _PER_PAGE:
            return None
        page += 1


def _ask(method: str, address: str, token: str, body: Any = None) -> Any:
    request = Request(
        address,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            return json.load(answer)
    except HTTPError as error:
        hint = "; the job needs `pull-requests: write`" if error.code in (401, 403) else ""
        raise CommentError(
            f"GitHub refused to {method} the comment, with status {error.code}{hint}."
        ) from None
    except (URLError, TimeoutError, http.client.HTTPException, ValueError) as error:
        raise CommentError(f"The comment could not be posted: {error}.") from None


def main(arguments: Sequence[str]) -> int:
    """Post the Markdown of a file; 2 where that fails."""
    if len(arguments) != 1:
        print(
            "usage: python -m ferrum_verify.integrations.pull_request_comment FILE", file=sys.stderr
        )
        return 2
    try:
        text = Path(arguments[0]).read_text(encoding="utf-8")
        print(post_comment(text, os.environ))
    except (CommentError, OSError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
