"""The queues as operators handle them: look, pause, redrive what failed, discard what waits."""
