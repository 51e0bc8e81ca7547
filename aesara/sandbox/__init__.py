"""The paths of Aesara's experiments that programs still use: streams of MRG31k3p."""
