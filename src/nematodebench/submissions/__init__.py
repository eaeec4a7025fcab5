"""Submissions: how they are built from sessions, checked against raw episodes and executed again."""
