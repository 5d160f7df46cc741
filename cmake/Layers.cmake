# A layer is a folder of src/, and a room is a folder of a layer. Each knows only what it names: its sources see the
# headers of nothing else, so including what is not named under KNOWS does not compile.
#
# Beside the code, *_test.cpp become one test program per layer, and *_fuzz.cpp and *_bench.cpp belong to fuzz/ and
# bench/. A main.cpp belongs to no library. A folder testing/ holds headers for tests, which only tests see.

# What every source is compiled after, once for all of them; cmake/precompiled.hpp says why.
add_library(proteus_prelude OBJECT ${CMAKE_CURRENT_LIST_DIR}/prelude.cpp)
target_link_libraries(proteus_prelude PRIVATE proteus_asio fmt::fmt spdlog::spdlog Boost::json Boost::url)
target_precompile_headers(proteus_prelude PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.hpp)

if(PROTEUS_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_library(proteus_test_prelude OBJECT ${CMAKE_CURRENT_LIST_DIR}/prelude.cpp)
  target_link_libraries(proteus_test_prelude PRIVATE proteus_asio fmt::fmt spdlog::spdlog Boost::json Boost::url
                                                     GTest::gtest GTest::gmock)
  target_precompile_headers(proteus_test_prelude PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.hpp <gmock/gmock.h>
                            <gtest/gtest.h>)
  # Headers for tests, of all layers.
  add_library(proteus_testing INTERFACE)
endif()

# proteus_show(<view> <path>): makes src/<path>, a folder or a header, visible as "<path>" under an include directory.
function(proteus_show view path)
  get_filename_component(folder ${view}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${path} ${view}/${path} SYMBOLIC)
endfunction()

# proteus_sources(<variable> <glob>...): the sources of a library.
macro(proteus_sources variable)
  file(GLOB ${variable} CONFIGURE_DEPENDS ${ARGN})
  list(FILTER ${variable} EXCLUDE REGEX "(_(test|fuzz|bench)|/main)\\.cpp$")
endmacro()

# proteus_layer(<folder> KNOWS <folder>... USES <library>...): one library. Rooms may follow.
function(proteus_layer folder)
  cmake_parse_arguments(LAYER "" "" "KNOWS;USES" ${ARGN})
  set(here ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(view ${CMAKE_BINARY_DIR}/views/${folder})
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${here}/*.hpp)
  foreach(header IN LISTS headers)
    proteus_show(${view} ${header})
    proteus_show(${view}/root ${header})
  endforeach()
  add_library(proteus_${folder}_root_headers INTERFACE)
  target_include_directories(proteus_${folder}_root_headers INTERFACE ${view}/root)

  # What the layer and each of its rooms are compiled with.
  add_library(proteus_below_${folder} INTERFACE)
  list(TRANSFORM LAYER_KNOWS PREPEND proteus_)
  target_link_libraries(proteus_below_${folder} INTERFACE ${LAYER_KNOWS} ${LAYER_USES})

  proteus_sources(sources ${here}/*.cpp)
  add_library(proteus_${folder} STATIC ${sources})
  set_target_properties(proteus_${folder} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(proteus_${folder} PUBLIC $<BUILD_INTERFACE:${view}>
                                                      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_link_libraries(proteus_${folder} PUBLIC ${LAYER_KNOWS} ${LAYER_USES} PRIVATE $<BUILD_INTERFACE:proteus_below_${folder}>)
  target_precompile_headers(proteus_${folder} REUSE_FROM proteus_prelude)

  if(PROTEUS_TESTS)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${here}/*_test.cpp)
    if(EXISTS ${here}/testing)
      proteus_show(${CMAKE_BINARY_DIR}/views/testing ${folder}/testing)
      target_include_directories(proteus_testing INTERFACE ${CMAKE_BINARY_DIR}/views/testing)
    endif()
    if(tests)
      proteus_test(${folder}_test SOURCES ${tests} KNOWS ${folder})
    endif()
  endif()
endfunction()

# proteus_room(<layer>/<room> KNOWS <room>...): a part of the layer's library. A room knows the rooms of its layer that it
# names, what those know, and what the layer knows; it knows the layer's own files where it names `root`.
function(proteus_room path)
  cmake_parse_arguments(ROOM "" "" "KNOWS" ${ARGN})
  get_filename_component(layer ${path} DIRECTORY)
  string(REPLACE "/" "_" name proteus_${path})
  set(view ${CMAKE_BINARY_DIR}/views/${path})
  proteus_show(${view} ${path})
  proteus_show(${CMAKE_BINARY_DIR}/views/${layer} ${path})

  add_library(${name}_headers INTERFACE)
  target_include_directories(${name}_headers INTERFACE ${view})
  list(TRANSFORM ROOM_KNOWS PREPEND proteus_${layer}_)
  list(TRANSFORM ROOM_KNOWS APPEND _headers)
  target_link_libraries(${name}_headers INTERFACE ${ROOM_KNOWS})

  proteus_sources(sources ${CMAKE_CURRENT_SOURCE_DIR}/${path}/*.cpp)
  if(sources)
    add_library(${name} OBJECT ${sources})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE ${name}_headers proteus_below_${layer})
    target_precompile_headers(${name} REUSE_FROM proteus_prelude)
    target_sources(proteus_${layer} PRIVATE $<TARGET_OBJECTS:${name}>)
  endif()
endfunction()

# proteus_test(<name> SOURCES <file>... KNOWS <folder>...): a GoogleTest program whose cases CTest lists one by one.
function(proteus_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;KNOWS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  list(TRANSFORM TEST_KNOWS PREPEND proteus_)
  target_link_libraries(${name} PRIVATE ${TEST_KNOWS} proteus_testing GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM proteus_test_prelude)
  target_compile_definitions(${name} PRIVATE PROTEUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
endfunction()
