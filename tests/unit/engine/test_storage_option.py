"""``execution.checkpointing.storage``: what it asks for is there, or the job is refused."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError
from wiesel.engine.base import job_settings

STORAGE, DIRECTORY = "execution.checkpointing.storage", "execution.checkpointing.dir"


def test_files_without_a_directory_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'filesystem' needs a directory, and there is none") as caught:
        job_settings(Configuration.from_dict({STORAGE: "filesystem"}))
    assert DIRECTORY in str(caught.value.hint)


def test_a_storage_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no storage 'filesytem'"):
        job_settings(Configuration.from_dict({STORAGE: "filesytem", DIRECTORY: "/tmp/c"}))


@pytest.mark.parametrize("settings", [{}, {STORAGE: "jobmanager"}, {STORAGE: "FileSystem", DIRECTORY: "/tmp/c"}, {DIRECTORY: "/tmp/c"}])
def test_others_are_taken(settings: dict[str, str]) -> None:
    assert job_settings(Configuration.from_dict(settings)).checkpoint_dir == settings.get(DIRECTORY)
