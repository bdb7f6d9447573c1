# SPDX-License-Identifier: Apache-2.0
# In a build with sanitizers every program carries their options with it: slurmctld and the tests start programs without an
# environment. What is found is written below `findings` in the build, where tests/run looks for it: nobody reads the output
# of what slurmctld starts.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  return()
endif()
set(findings "${PROJECT_BINARY_DIR}/findings")
file(MAKE_DIRECTORY "${findings}")
# C, as the flags of the sanitizers are C++'s: the options themselves are not instrumented.
add_library(burst_sanitizer_options OBJECT tests/sanitizers/default_options.c)
target_compile_definitions(burst_sanitizer_options PRIVATE BURST_FINDINGS="${findings}")

function(give_sanitizer_options folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_link_libraries(${target} PRIVATE burst_sanitizer_options)
    endif()
  endforeach()
  get_property(subfolders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    give_sanitizer_options("${subfolder}")
  endforeach()
endfunction()
give_sanitizer_options("${PROJECT_SOURCE_DIR}")
