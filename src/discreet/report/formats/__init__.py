"""Sections as HTML, Markdown and PDF."""
