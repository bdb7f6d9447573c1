# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: programs under libexec, examples and units beside the documentation.
