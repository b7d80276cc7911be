"""The charts of a comparison, one file for each picture, as Altair charts without titles and colours.

Each builder returns None if the data cannot fill its picture, for instance if nothing was written.
"""
