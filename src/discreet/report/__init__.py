"""Reports: sections, charts, pages, Markdown, PDF, the page of a front, comparisons and certificates."""
