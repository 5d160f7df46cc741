# Compiler flags for every target of the project.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "Proteus is built with clang 19: g++ 12 destroys temporaries of co_await expressions twice. "
                      "Use a preset, or -DCMAKE_CXX_COMPILER=clang++-19.")
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without both settings, ccache cannot cache sources that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

find_program(LLD ld.lld-19)
if(LLD)
  add_link_options(-fuse-ld=lld-19)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
                    -Woverloaded-virtual -Wimplicit-fallthrough -fcolor-diagnostics)
add_compile_options($<$<CONFIG:Release>:-g1>)
# Only some libraries require this flag, but all sources that share a precompiled header must have the same flags.
add_compile_options(-pthread)

if(PROTEUS_SANITIZE)
  add_compile_options(-fsanitize=${PROTEUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PROTEUS_SANITIZE})
endif()
