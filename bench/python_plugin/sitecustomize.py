# SPDX-License-Identifier: Apache-2.0
"""Points boto3 at the simulated EC2, for the Python plugin alone: Debian's botocore knows no AWS_ENDPOINT_URL yet.

Python imports this by itself, as it stands in PYTHONPATH. boto3 is touched only when the program imports it.
"""

import importlib.abc
import importlib.machinery
import os
import sys


class _Patch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "boto3.session":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            client = module.Session.client

            def client_of_simulation(self, *arguments, **options):
                return client(self, *arguments, **{"endpoint_url": os.environ["BENCH_ENDPOINT"], **options})
            module.Session.client = client_of_simulation
        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Patch())
