"""Speed and memory, as ratios that are measured in one run."""
