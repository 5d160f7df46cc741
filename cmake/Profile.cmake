# Profile-guided optimisation (ADR 7) with the profile that scripts/profile.sh records under load. Functions that have
# changed since the recording are compiled without the profile.
set(PROTEUS_PROFILE "" CACHE STRING "use: optimise by the profile; generate: build programs that record one; or empty")
set(profile ${CMAKE_SOURCE_DIR}/bench/proteus.profdata)

if(PROTEUS_PROFILE)
  # The profile distinguishes functions of internal linkage by the path of their file. Strips the path of the build
  # folder, so that the profile fits builds in any folder.
  string(REGEX MATCHALL "/" levels ${CMAKE_BINARY_DIR}/)
  list(LENGTH levels levels)
  add_compile_options("SHELL:-mllvm -static-func-strip-dirname-prefix=${levels}")
endif()
if(PROTEUS_PROFILE STREQUAL "generate")
  add_compile_options(-fprofile-generate -fprofile-update=atomic)
  add_link_options(-fprofile-generate)
elseif(PROTEUS_PROFILE STREQUAL "use" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^19\\.")
  # A new profile causes a full rebuild, because its checksum is on every command line.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile})
  file(SHA256 ${profile} sum)
  string(SUBSTRING ${sum} 0 16 sum)
  add_compile_options(-fprofile-use=${profile} -DPROTEUS_PROFILE_SUM=${sum} -Wno-profile-instr-out-of-date
                      -Wno-profile-instr-unprofiled -Wno-backend-plugin)
endif()
