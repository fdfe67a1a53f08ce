"""Programs that mayapy and hython run by path. In a staged tree they lie at its root."""
