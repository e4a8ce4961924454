"""Recall: the arms of a search, their fusion, and the gate's answer."""
