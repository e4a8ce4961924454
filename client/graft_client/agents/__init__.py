"""The coding agents that graft adds itself to: where each keeps what, and how that is changed."""
