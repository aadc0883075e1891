"""Plans of other planners, read into `ferrum-verify/buffer-plan/v1`: one file a format."""
