# A layer is a folder of src/, and a room is a folder of a layer. The include path of a layer or room contains only its
# own headers and those listed under KNOWS, so any other include does not compile.
#
# The *_test.cpp files of a layer become one test program. *_fuzz.cpp and *_bench.cpp files belong to fuzz/ and bench/.
# A main.cpp belongs to no library. A folder testing/ holds headers that only tests can include.

# The precompiled header that all sources share.
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
  # The test headers of all layers.
  add_library(proteus_testing INTERFACE)
endif()

# proteus_show(<view> <path>): links the folder or header src/<path> into the include directory <view>, as "<path>".
function(proteus_show view path)
  get_filename_component(folder ${view}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${path} ${view}/${path} SYMBOLIC)
endfunction()

# proteus_sources(<variable> <glob>...): sets the variable to the sources of a library.
macro(proteus_sources variable)
  file(GLOB ${variable} CONFIGURE_DEPENDS ${ARGN})
  list(FILTER ${variable} EXCLUDE REGEX "(_(test|fuzz|bench)|/main)\\.cpp$")
endmacro()

# proteus_layer(<folder> KNOWS <layer>... USES <library>...): adds a layer as a static library. Its rooms follow.
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

  # What the layer and each of its rooms may include.
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

# proteus_room(<layer>/<room> KNOWS <room>...): adds a part of the layer's library. A room can include the rooms of its
# layer under KNOWS, what those can include, and what its layer knows. `root` stands for the layer's own files.
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

# proteus_test(<name> SOURCES <file>... KNOWS <layer>...): adds a GoogleTest program whose cases CTest lists one by one.
function(proteus_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;KNOWS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  list(TRANSFORM TEST_KNOWS PREPEND proteus_)
  target_link_libraries(${name} PRIVATE ${TEST_KNOWS} proteus_testing GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM proteus_test_prelude)
  target_compile_definitions(${name} PRIVATE PROTEUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
endfunction()
