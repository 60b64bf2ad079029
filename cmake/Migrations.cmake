# Embeds a room's migrations/*.sql into its library, so that the program carries its own schema.
#
#   tenon_room(access USES ...)
#   tenon_migrations(access)    # after tenon_room
#
# Defines tenon::access::migrations(), which the room declares as
#   std::span<const storage::Migration> migrations();
# When a .sql file changes, appears or goes, the next build configures and writes it anew. (A custom
# command would do that without configuring, but makes every room below wait for those above.)
function(tenon_migrations room)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/migrations/*.sql)
  list(SORT files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})

  set(entries "")
  set(expected 1)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)\\.sql$")
      message(FATAL_ERROR "${file}: a migration is named like 0001_what_it_makes.sql")
    endif()
    set(stem ${CMAKE_MATCH_2})
    string(REGEX REPLACE "^0+" "" number ${CMAKE_MATCH_1})
    if(NOT number EQUAL expected)
      message(FATAL_ERROR "${file}: the next migration of ${room} has number ${expected}")
    endif()
    math(EXPR expected "${expected} + 1")
    file(READ ${file} sql)
    string(APPEND entries "        {.room = \"${room}\",\n         .number = ${number},\n"
           "         .name = \"${stem}\",\n         .sql = R\"tenon_sql(${sql})tenon_sql\"},\n")
  endforeach()

  set(output ${CMAKE_CURRENT_BINARY_DIR}/${room}_migrations.cpp)
  file(WRITE ${output}.new "// Made by cmake/Migrations.cmake from the room's migrations/*.sql.
#include <array>
#include <span>

#include \"storage/migration.hpp\"

namespace tenon::${room} {

std::span<const storage::Migration> migrations();

std::span<const storage::Migration> migrations() {
    static constexpr auto files = std::to_array<storage::Migration>({
${entries}    });
    return files;
}

}  // namespace tenon::${room}
")
  file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
  target_sources(${room} PRIVATE ${output})
endfunction()
