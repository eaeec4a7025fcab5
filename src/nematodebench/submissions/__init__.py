"""Submissions: built from sessions, checked against their raw episodes, executed again. Nothing claimed is believed."""
