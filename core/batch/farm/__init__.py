"""Jobs for render farms and dask clusters."""
