"""What a claimed equation leaves stationary when it is not exp(-H)."""
