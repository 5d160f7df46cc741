# proteus_layer(<folder> KNOWS <folder>... USES <library>...)
#
# One library per folder of src/. Its headers are reachable as "<folder>/x.hpp" through an include directory that holds
# nothing but that folder, so including a layer that is not named under KNOWS does not compile.
#
# *_test.cpp beside the code become one test program per folder; *_fuzz.cpp and *_bench.cpp belong to fuzz/ and bench/. A
# main.cpp belongs to no library.
function(proteus_layer folder)
  cmake_parse_arguments(LAYER "" "" "KNOWS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz|bench)|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(view ${CMAKE_BINARY_DIR}/layers/${folder})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)

  add_library(proteus_${folder} STATIC ${sources})
  set_target_properties(proteus_${folder} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(proteus_${folder} PUBLIC $<BUILD_INTERFACE:${view}>
                                                      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  list(TRANSFORM LAYER_KNOWS PREPEND proteus_)
  target_link_libraries(proteus_${folder} PUBLIC ${LAYER_KNOWS} ${LAYER_USES})
  target_precompile_headers(proteus_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.hpp)

  if(PROTEUS_TESTS AND tests)
    proteus_test(${folder}_test SOURCES ${tests} KNOWS ${folder})
  endif()
endfunction()

# proteus_test(<name> SOURCES <file>... KNOWS <folder>...): a GoogleTest program whose cases CTest lists one by one.
function(proteus_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;KNOWS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${TEST_SOURCES})
  list(TRANSFORM TEST_KNOWS PREPEND proteus_)
  target_link_libraries(${name} PRIVATE ${TEST_KNOWS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.hpp <gmock/gmock.h> <gtest/gtest.h>)
  target_compile_definitions(${name} PRIVATE PROTEUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
endfunction()
