"""What somebody would send who wants to hold a service up, and what it costs."""
