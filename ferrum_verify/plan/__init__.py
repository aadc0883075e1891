"""What follows from a plan by arithmetic and order alone."""
