"""Re-execution in the browser: kernels as WebAssembly, and cases that pages execute."""
