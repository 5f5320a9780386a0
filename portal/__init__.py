"""The portal: pages for people. It keeps nothing: it asks the main server for all that it shows, as
the person who has signed in."""
