"""Is a scalar identically zero?"""
