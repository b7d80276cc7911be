"""The charts of a comparison, one file a picture, as Altair charts without titles and colours of their own.

Each builder returns None when the data cannot fill its picture, such as when nothing was written.
"""
