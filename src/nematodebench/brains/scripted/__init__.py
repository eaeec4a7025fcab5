"""Policies written by hand: the null, references and blind cycles."""
