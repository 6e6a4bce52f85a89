"""Call a function of the benchmarks in this process and print its result: ``call.py module:function ARGUMENTS``."""

import json
import sys
from importlib import import_module

if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    print(json.dumps(getattr(import_module(module), function)(**json.loads(sys.argv[2]))))
