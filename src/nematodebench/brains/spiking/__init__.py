"""Networks of spiking neurons."""
