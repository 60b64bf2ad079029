# How every target is compiled. Warnings are errors; see docs/adr/0001-clang-19.md for the compiler.
set(TENON_SANITIZE "" CACHE STRING "address, thread or empty")
set_property(CACHE TENON_SANITIZE PROPERTY STRINGS "" address thread)

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wthread-safety -Werror
  -fno-omit-frame-pointer -fcolor-diagnostics)
target_include_directories(tenon_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_link_options(tenon_options INTERFACE -fuse-ld=lld-19)

# Asio's and Beast's bodies are compiled once, in src/runtime and src/http.
target_compile_definitions(tenon_options INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED
  # Asio's frames come by operator new: allocators serve aligned_alloc on a slower path.
  BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)

if(TENON_SANITIZE STREQUAL "address")
  # With the coverage that fuzzers need, so that they share one build with the tests.
  set(flags -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all)
elseif(TENON_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread)
endif()
if(flags)
  target_compile_options(tenon_options INTERFACE ${flags})
  target_link_options(tenon_options INTERFACE ${flags})
endif()

# ccache can only share precompiled headers that hold no time stamp.
add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
