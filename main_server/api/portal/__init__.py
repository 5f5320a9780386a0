"""What the portal asks for the person who has signed in."""
