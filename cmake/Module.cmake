# inferscale_module(NAME [THROWS] SOURCES ... [USES targets...] [TESTS files...])
#
# Declares one module: a static library `inferscale_NAME` of the listed sources, linked to exactly
# the listed targets, and one test program `NAME_test` of the listed tests. Modules build without
# exceptions unless THROWS is given: those are the edges that call libraries which throw.

set(INFERSCALE_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wno-missing-field-initializers -Wold-style-cast -Wcast-align -Wformat=2 -Wno-restrict -Wimplicit-fallthrough)

add_library(inferscale_options INTERFACE)
target_compile_features(inferscale_options INTERFACE cxx_std_23)
target_include_directories(inferscale_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>)
# Results must not hang on how a compiler contracts a*b+c: the same bytes on every machine.
target_compile_options(inferscale_options INTERFACE
                       "$<BUILD_INTERFACE:${INFERSCALE_WARNINGS};-ffp-contract=off>")
if(INFERSCALE_WERROR)
  target_compile_options(inferscale_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(INFERSCALE_SANITIZE)
  target_compile_options(inferscale_options INTERFACE
                         -fsanitize=${INFERSCALE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(inferscale_options INTERFACE -fsanitize=${INFERSCALE_SANITIZE})
endif()

function(inferscale_module name)
  cmake_parse_arguments(ARG "THROWS" "" "SOURCES;USES;TESTS;TEST_USES" ${ARGN})
  set(target inferscale_${name})
  add_library(${target} STATIC)
  set(headers "")
  foreach(source IN LISTS ARG_SOURCES)
    if(source MATCHES "\\.h$")
      list(APPEND headers ${source})
    else()
      target_sources(${target} PRIVATE ${source})
    endif()
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(${target} PUBLIC inferscale_options ${ARG_USES})
  if(NOT ARG_THROWS)
    target_compile_options(${target} PRIVATE -fno-exceptions)
  endif()
  if(INFERSCALE_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE ${target} ${ARG_TEST_USES} GTest::gtest_main)
    inferscale_quick_test(${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS fast TIMEOUT 120)
  endif()
endfunction()
