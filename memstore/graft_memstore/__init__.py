"""The memstore: owns the notes, and answers for them over gRPC."""
