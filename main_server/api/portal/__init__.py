"""The portal's calls for the person who has signed in."""
