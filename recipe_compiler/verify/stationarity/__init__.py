"""Does exp(-H) stay what it is, and do solutions live for ever?"""
