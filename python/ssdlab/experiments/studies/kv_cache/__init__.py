"""The effect of placement handles on the KV cache of a language model server; see README.md."""
