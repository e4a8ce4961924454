"""One file per proto service: unpack the request, call, pack the reply."""
