"""Worlds without space: remember, predict, associate."""
