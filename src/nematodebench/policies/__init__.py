"""Policies that were trained elsewhere: read from files of several formats, frozen, and scored like brains."""
