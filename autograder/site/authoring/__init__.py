"""What is done when a page is written, not when the site is built: drawing its mermaid diagrams."""
