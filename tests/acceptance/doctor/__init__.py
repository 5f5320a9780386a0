"""`gatepost doctor`. That this is a package ends its stack as soon as its last test is done."""
