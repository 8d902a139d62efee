# Builds that are to be ready soon (INFERSCALE_QUICK_BUILD, as scripts/test and CI build): tests are
# optimised less than what they test, and the headers that all of them read are precompiled, once.
# The library and the program are compiled as ever, with every warning.
#
# A precompiled header hides what a test forgot to include: builds without the option find that.
#
#   inferscale_quick_test(TARGET)     TARGET holds nothing but tests

set(INFERSCALE_TEST_HEADERS
    <algorithm> <array> <cmath> <cstdint> <expected> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <utility> <vector> <gtest/gtest.h>)

function(inferscale_quick_options target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With the first, ccache can look into files with precompiled headers. The others are for g++,
    # which forgets which lines of such a header are the system's, where it does not warn.
    target_compile_options(${target} PRIVATE
                           -fpch-preprocess -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

if(INFERSCALE_QUICK_BUILD AND INFERSCALE_TESTS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/quick_tests.cc
       CONTENT "// The headers that all tests read are precompiled with this file.\n")
  add_library(inferscale_quick_tests STATIC ${CMAKE_BINARY_DIR}/quick_tests.cc)
  target_link_libraries(inferscale_quick_tests PRIVATE inferscale_options GTest::gtest_main)
  target_precompile_headers(inferscale_quick_tests PRIVATE ${INFERSCALE_TEST_HEADERS})
  inferscale_quick_options(inferscale_quick_tests)
endif()

function(inferscale_quick_test target)
  if(NOT INFERSCALE_QUICK_BUILD)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM inferscale_quick_tests)
  inferscale_quick_options(${target})
endfunction()
