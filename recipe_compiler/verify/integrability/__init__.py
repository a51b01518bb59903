"""Is exp(-H) integrable, and what are its marginals?"""
