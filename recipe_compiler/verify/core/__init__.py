"""Tools that every claim uses: the subject of a check, its sizes, its premises, identities and limits."""
