"""The document of a protocol, written from its spec: Markdown, a page of HTML, JSON Schema, AsyncAPI."""
