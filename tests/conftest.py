"""What all tests share: data of their own, so that none reads or writes the user's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path_factory.mktemp("data")))
        yield
