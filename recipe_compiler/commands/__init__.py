"""What the commands of the command line do, one per file; each is imported when it is used."""
