"""Sessions: signing in, staying signed in, signing out; and for whom a request is answered."""
