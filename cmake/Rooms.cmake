# A room is a folder of src/ and one static library. It names the rooms and packages it stands on.
#
#   tenon_room(storage USES postgres runtime PACKAGES OpenSSL::Crypto)
#
# Its sources are *.cpp of the folder; what a test needs is in its suffix:
#   x_test.cpp nothing, x_pg_test.cpp PostgreSQL, x_redis_test.cpp Redis, x_fuzz.cpp libFuzzer.
# *_test.cpp become ROOM_test, *_pg_test.cpp and *_redis_test.cpp become ROOM_engine_test, and each
# x_bench.cpp a program ROOM_x_bench that a script of tools/ runs beside its peer.
find_package(rapidcheck REQUIRED)

function(tenon_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PACKAGES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  file(GLOB engine_tests CONFIGURE_DEPENDS *_pg_test.cpp *_redis_test.cpp)
  file(GLOB fuzzers CONFIGURE_DEPENDS *_fuzz.cpp)
  file(GLOB benches CONFIGURE_DEPENDS *_bench.cpp)
  list(REMOVE_ITEM sources ${tests} ${fuzzers} ${benches} ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp "")
  list(REMOVE_ITEM tests ${engine_tests} "")

  if(sources)
    add_library(${name} STATIC ${sources})
    set(access PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(access INTERFACE)
  endif()
  target_link_libraries(${name} ${access} tenon_options ${ROOM_USES} ${ROOM_PACKAGES})
  if(sources)
    tenon_precompile(${name})
  endif()

  if(TENON_SANITIZE STREQUAL "address")
    foreach(fuzzer ${fuzzers})
      get_filename_component(program ${fuzzer} NAME_WE)
      add_executable(${name}_${program} EXCLUDE_FROM_ALL ${fuzzer})
      target_link_libraries(${name}_${program} PRIVATE ${name})
      target_link_options(${name}_${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
  foreach(bench ${benches})
    get_filename_component(program ${bench} NAME_WE)
    add_executable(${name}_${program} EXCLUDE_FROM_ALL ${bench})
    target_link_libraries(${name}_${program} PRIVATE ${name})
  endforeach()
  tenon_tests(${name}_test ${name} "unit" ${tests})
  tenon_tests(${name}_engine_test ${name} "engine" ${engine_tests})
endfunction()

function(tenon_tests program room label)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${program} ${ARGN})
  target_link_libraries(${program} PRIVATE ${room} GTest::gtest_main GTest::gmock rapidcheck)
  tenon_precompile(${program})
  add_test(NAME ${program} COMMAND ${program})
  set_tests_properties(${program} PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

# Base sees the standard library only; the rooms below it also see Asio.
function(tenon_precompile target)
  if(target STREQUAL "base" OR target STREQUAL "base_test")
    target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/standard.pch.hpp)
  elseif(TARGET pch)
    target_precompile_headers(${target} REUSE_FROM pch)
  endif()
endfunction()
