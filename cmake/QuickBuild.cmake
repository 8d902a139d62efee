# Builds that are to be ready soon (INFERSCALE_QUICK_BUILD, as scripts/test and CI build): the headers
# that nearly every file reads are precompiled, once for each kind of file, and tests are optimised
# less than what they test. The library and the program are compiled with the same options as ever.
#
# A precompiled header hides what a file forgot to include; builds without the option compile each
# file by itself, and all_verify_interface_header_sets each header.
#
#   inferscale_quick(TARGET sources | throws | tests)   the kind: free of exceptions or not, or tests

set(INFERSCALE_COMMON_HEADERS
    <algorithm> <array> <cmath> <cstdint> <expected> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <utility> <vector>)

function(inferscale_quick_kind kind)
  set(empty ${CMAKE_BINARY_DIR}/quick/${kind}.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// The headers of this kind are compiled with it.\n")
  add_library(inferscale_quick_${kind} STATIC ${empty})
  target_link_libraries(inferscale_quick_${kind} PRIVATE inferscale_options)
  target_precompile_headers(inferscale_quick_${kind} PRIVATE ${ARGN})
  target_compile_options(inferscale_quick_${kind} PRIVATE -Wno-invalid-pch)
endfunction()

if(INFERSCALE_QUICK_BUILD)
  # ccache looks into files with precompiled headers only so.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
  inferscale_quick_kind(sources ${INFERSCALE_COMMON_HEADERS})
  target_compile_options(inferscale_quick_sources PRIVATE -fno-exceptions)
  inferscale_quick_kind(throws ${INFERSCALE_COMMON_HEADERS})
  if(INFERSCALE_TESTS)
    inferscale_quick_kind(tests ${INFERSCALE_COMMON_HEADERS} <gtest/gtest.h>)
    target_link_libraries(inferscale_quick_tests PRIVATE GTest::gtest_main)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(inferscale_quick_tests PRIVATE -O1)
    endif()
  endif()
endif()

function(inferscale_quick target kind)
  if(NOT INFERSCALE_QUICK_BUILD)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM inferscale_quick_${kind})
  # g++ forgets which of a precompiled header's lines are the system's, where it does not warn.
  target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  if(kind STREQUAL "tests" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
