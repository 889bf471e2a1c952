"""Pages, fragments, stream and HTTP API. Knows companion, never a device or an array."""
