"""What is done in the background: vectors that wait, a change of model, erasing, pruning."""
