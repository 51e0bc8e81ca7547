"""Classes of ops that Aesara compiles from C code; here their `perform` runs."""
