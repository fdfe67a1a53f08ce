"""Cards: messages in the viewport, versions, presets, the verdict, and the welcome page."""
