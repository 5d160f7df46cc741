# proteus_embed_page(<folder> <source folder>)
#
# Compiles the page into a layer, as proteus::<folder>::page_files(). Node bundles and compresses the page during the
# build whenever one of the page's sources has changed. With PROTEUS_PAGE=OFF, page_files() is empty.
option(PROTEUS_PAGE "Build the page for operators into the program" ON)
function(proteus_embed_page folder page)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${folder}_page_files.cpp)
  if(NOT PROTEUS_PAGE)
    file(CONFIGURE OUTPUT ${source} CONTENT
         "#include \"admin/http/page_files.hpp\"\n\nnamespace proteus::${folder} {\n\nstd::span<const PageFile> page_files() { return {}; }\n\n}\n")
  else()
    find_program(PROTEUS_NODE NAMES node nodejs)
    if(NOT PROTEUS_NODE OR NOT EXISTS ${page}/node_modules/esbuild)
      message(FATAL_ERROR "The page cannot be built: Node or the npm packages of ui/ are missing. "
                          "Run scripts/setup.sh build, or configure with -DPROTEUS_PAGE=OFF to leave the page out.")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${page}/src/*)
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${PROTEUS_NODE} ${page}/build.mjs ${source}
      DEPENDS ${sources} ${page}/build.mjs ${page}/package-lock.json
      COMMENT "Building the page"
      VERBATIM)
  endif()
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_sources(proteus_${folder} PRIVATE ${source})
endfunction()

# proteus_embed_text(<folder> <function> <file>...)
#
# Compiles text files into a layer. The layer must declare the function that returns them:
#   std::span<const EmbeddedFile> proteus::<folder>::<function>();
# A change of a file re-runs CMake.
function(proteus_embed_text folder function)
  set(files "")
  set(count 0)
  foreach(path IN LISTS ARGN)
    file(REAL_PATH ${path} path)
    get_filename_component(name ${path} NAME)
    file(READ ${path} content)
    string(APPEND files "    {\"${name}\", R\"__embedded__(${content})__embedded__\"},\n")
    math(EXPR count "${count} + 1")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/${folder}_${function}.cpp)
  file(WRITE ${source}.new
       "#include <array>\n\n#include \"base/embedded.hpp\"\n\nnamespace proteus::${folder} {\n\n"
       "std::span<const EmbeddedFile> ${function}();\n\n"
       "std::span<const EmbeddedFile> ${function}() {\n"
       "  static constexpr std::array<EmbeddedFile, ${count}> kFiles{{\n${files}  }};\n"
       "  return kFiles;\n}\n\n}  // namespace proteus::${folder}\n")
  # Copies the file only if it differs, so that re-running CMake does not recompile it.
  configure_file(${source}.new ${source} COPYONLY)
  target_sources(proteus_${folder} PRIVATE ${source})
endfunction()
