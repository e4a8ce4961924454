"""What is there where a question is asked: versions in a project's lock files, and the system."""
