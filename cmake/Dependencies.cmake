# Third-party libraries, all from Debian 12. docs/internals/dependencies.md gives the reason for each.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL 3 REQUIRED)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(SQLite3 3.37 REQUIRED)
find_package(PostgreSQL 14 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
find_library(STEMMER stemmer REQUIRED)
find_path(STEMMER_HEADERS libstemmer.h REQUIRED)

# For programs, not for libraries: coroutine frames are too large for the caches of glibc's allocator. Sanitizers
# replace the allocator themselves.
add_library(proteus_allocator INTERFACE)
if(NOT PROTEUS_SANITIZE)
  find_library(MIMALLOC mimalloc REQUIRED)
  target_link_libraries(proteus_allocator INTERFACE ${MIMALLOC})
endif()

# Asio and Beast are compiled once, into this target, and only declared elsewhere.
add_library(proteus_asio STATIC ${CMAKE_SOURCE_DIR}/cmake/asio.cpp)
target_compile_definitions(proteus_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                                               BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=8
                                               BOOST_ASIO_HAS_THREAD_KEYWORD_EXTENSION=1
                                               # operator new is faster than aligned_alloc, and its alignment is enough
                                               BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)
target_link_libraries(proteus_asio PUBLIC Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_options(proteus_asio PRIVATE -w)
