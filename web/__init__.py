"""The browser package, and the page of `verdigris publish`. Nothing here is Python."""
