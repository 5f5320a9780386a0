"""Sessions: signing in, staying so, signing out; and for whom a request is answered."""
