"""A service on this machine that holds the comments of one pull request, as GitHub does."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-this-test"


class Service(HTTPServer):
    """Holds the comments of one pull request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = []
        self.status = 200

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GITHUB_API_URL": f"http://127.0.0.1:{self.server_port}",
            "GITHUB_REPOSITORY": "owner/project",
            "PULL_REQUEST": "7",
            "GITHUB_TOKEN": TOKEN,
        }

    def say(self, text: str) -> None:
        self.comments.append({"id": len(self.comments) + 100, "body": text})


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        size, page = int(query["per_page"][0]), int(query["page"][0])
        assert self.path.startswith("/repos/owner/project/issues/7/comments?")
        self.answer(self.server.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        assert self.path == "/repos/owner/project/issues/7/comments"
        self.server.say(self.body())
        self.answer({"html_url": "https://example.org/posted"})

    def do_PATCH(self) -> None:
        start, _, number = self.path.rpartition("/")
        assert start == "/repos/owner/project/issues/comments"
        self.server.comments[int(number) - 100]["body"] = self.body()
        self.answer({"html_url": "https://example.org/edited"})

    def body(self) -> str:
        text: str = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        return text

    def answer(self, value: Any) -> None:
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode() if self.server.status == 200 else b"no")

    def log_message(self, *_: Any) -> None:
        """Say nothing: the tests look at what was stored."""
