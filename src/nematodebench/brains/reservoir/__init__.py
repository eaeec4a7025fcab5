"""Random recurrent networks, with and without a trained readout."""
