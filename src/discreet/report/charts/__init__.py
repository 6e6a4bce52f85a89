"""Charts as SVG: readable on a phone, and in black and white."""
