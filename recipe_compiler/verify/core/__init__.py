"""What every claim is decided with: the subject of a check, its sizes, its premises, identities and limits."""
