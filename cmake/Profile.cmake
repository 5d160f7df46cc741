# Where the programs spend their time, recorded under load by scripts/profile.sh. By it the compiler inlines and lays out
# what is hot, and moves out of the way what is not. Functions that have changed since are compiled as if it said nothing.
set(PROTEUS_PROFILE "" CACHE STRING "use: optimise by the profile; generate: build programs that record one; or empty")
set(profile ${CMAKE_SOURCE_DIR}/bench/proteus.profdata)

if(PROTEUS_PROFILE)
  # Functions that only one file knows are told apart by its path below the build folder, wherever that is.
  string(REGEX MATCHALL "/" levels ${CMAKE_BINARY_DIR}/)
  list(LENGTH levels levels)
  add_compile_options("SHELL:-mllvm -static-func-strip-dirname-prefix=${levels}")
endif()
if(PROTEUS_PROFILE STREQUAL "generate")
  add_compile_options(-fprofile-generate -fprofile-update=atomic)
  add_link_options(-fprofile-generate)
elseif(PROTEUS_PROFILE STREQUAL "use" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^19\\.")
  # What was compiled by another one is compiled again: its sum is on every command line.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile})
  file(SHA256 ${profile} sum)
  string(SUBSTRING ${sum} 0 16 sum)
  add_compile_options(-fprofile-use=${profile} -DPROTEUS_PROFILE_SUM=${sum} -Wno-profile-instr-out-of-date
                      -Wno-profile-instr-unprofiled -Wno-backend-plugin)
endif()
