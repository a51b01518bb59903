"""Is a claimed update a step of an equation that keeps exp(-H)?"""
