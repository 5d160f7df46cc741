# proteus_embed_text(<folder> <function> <file>...)
#
# Compiles text files into a layer. The layer declares, and may then call,
#   std::span<const EmbeddedFile> proteus::<folder>::<function>();
# Changing a file makes CMake run again.
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
  # Copies only what differs, so that running CMake again does not compile anything again.
  configure_file(${source}.new ${source} COPYONLY)
  target_sources(proteus_${folder} PRIVATE ${source})
endfunction()
