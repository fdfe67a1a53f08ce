"""What half floats cost a decoder, and how rounding to them loses least."""
