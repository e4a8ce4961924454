"""What `graft doctor` looks at: places, processes, programs. Nothing here changes anything."""
