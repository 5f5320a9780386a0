"""What is played on a machine of a drill, by subject; `./dev drill operate install` says in which
order. In `on_machine/` is what runs there by itself, with the release's Python."""
