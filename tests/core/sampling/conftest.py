import pytest
from analytic_material import AnalyticTeacher

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError


@pytest.fixture(scope="module")
def teacher():
    try:
        return AnalyticTeacher(open_device("software"))
    except DeviceError as error:
        pytest.skip(str(error))
