"""The files that ``nematodebench new`` writes, under the names MyBrain and MyWorld. Each is whole and can be run."""
