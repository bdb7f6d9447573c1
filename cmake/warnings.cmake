# SPDX-License-Identifier: Apache-2.0
# The warnings that every target of the project is compiled with.
add_library(burst_warnings INTERFACE)
target_compile_options(burst_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                                -Wold-style-cast -Wimplicit-fallthrough)
if(BURST_WERROR)
  target_compile_options(burst_warnings INTERFACE -Werror)
endif()
