"""What placement handles do to the KV cache of a language model server; see README.md."""
