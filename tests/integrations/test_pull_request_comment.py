"""One comment on a pull request: posted once, and replaced from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.integrations.pull_request_comment import MARK, CommentError, main, post_comment
from tests.integrations.github_service import Service

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_comment_is_posted_and_later_ones_replace_it(service: Service) -> None:
    service.say("a person's comment")
    assert post_comment("first é", service.environment) == "https://example.org/posted"
    service.say(f"a quotation of\n{MARK}")
    assert post_comment("second", service.environment) == "https://example.org/edited"
    bodies = [comment["body"] for comment in service.comments]
    assert bodies == ["a person's comment", f"{MARK}\nsecond", f"a quotation of\n{MARK}"]


def test_the_comment_is_found_behind_many_others(service: Service) -> None:
    for number in range(230):
        service.say(f"comment {number}")
    service.comments[215]["body"] = f"{MARK}\nbefore"
    post_comment("after", service.environment)
    assert service.comments[215]["body"] == f"{MARK}\nafter"
    assert len(service.comments) == 230


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "with status 403; the job needs `pull-requests: write`."),
        (500, "GitHub refused to GET the comment, with status 500."),
    ],
)
def test_refusals(service: Service, status: int, sentence: str) -> None:
    service.status = status
    with pytest.raises(CommentError) as error:
        post_comment("x", service.environment)
    assert sentence in str(error.value)


def test_no_service_and_nothing_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    with Service() as gone:
        environment = gone.environment
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    report = tmp_path / "report.md"
    report.write_text("text")
    assert main([str(report)]) == 2
    assert "The comment could not be posted: " in capsys.readouterr().err
    monkeypatch.delenv("PULL_REQUEST")
    assert main([str(report)]) == 2
    assert "PULL_REQUEST is not set" in capsys.readouterr().err
    assert main([str(tmp_path / "lost.md")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert main([]) == 2
