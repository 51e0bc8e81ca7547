"""Classes of ops that Aesara compiles from C code. Here they run through `perform`."""
