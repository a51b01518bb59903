"""Lets the tests here import `letters`, which stands beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves test folders off the path
