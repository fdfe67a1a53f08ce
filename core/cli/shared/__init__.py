"""Options, openers and outputs that commands share."""
