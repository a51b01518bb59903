"""Is a claimed update a step of an equation that preserves exp(-H)?"""
