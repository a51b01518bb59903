"""What was found out about documents, kept from one command to the next."""
