"""minicompiler: torch.compile, small enough to read."""
