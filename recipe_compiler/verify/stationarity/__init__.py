"""Is exp(-H) stationary, and is the SDE non-explosive?"""
