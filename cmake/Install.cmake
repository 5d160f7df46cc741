# Installs the program, the public headers, and a CMake package with the targets proteus::server and proteus::client.
# Both link the other layers listed here as static libraries, whose own headers are not installed.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(layers asio base json net auth mcp catalog server client)
list(TRANSFORM layers PREPEND proteus_)

foreach(layer IN LISTS layers)
  string(REPLACE "proteus_" "" exported ${layer})
  set_target_properties(${layer} PROPERTIES EXPORT_NAME ${exported})
  target_include_directories(${layer} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

install(TARGETS ${layers} EXPORT proteus-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/proteus)
install(DIRECTORY include/proteus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT proteus-targets NAMESPACE proteus:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/proteus)

configure_package_config_file(cmake/proteus-config.cmake.in ${CMAKE_BINARY_DIR}/proteus-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/proteus)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/proteus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/proteus-config.cmake ${CMAKE_BINARY_DIR}/proteus-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/proteus)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET proteus)
  install(TARGETS proteus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
