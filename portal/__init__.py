"""The portal: pages for people. It keeps nothing: all that it shows it asks of the main server, as
the person who has signed in."""
