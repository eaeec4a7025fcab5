"""Tasks as environments of other libraries: Gymnasium, scalar and vector."""
