"""Physics and sensors, one file a world. A world imports kernels and nothing else of ours."""
