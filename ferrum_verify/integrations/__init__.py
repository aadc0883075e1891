"""A place in people's tools: settings, baselines, reviews of a change, and pytest."""
