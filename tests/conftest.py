"""What all tests share: data of their own, so that none reads the user's; and no deadlines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

# Machines are shared: how long a case takes says nothing of the law that it tries.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path_factory.mktemp("data")))
        yield
