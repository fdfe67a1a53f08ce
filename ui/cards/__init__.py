"""Cards and pages: messages in the viewport, versions, the verdict, and the welcome page."""
