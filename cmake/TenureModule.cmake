# The build's few words: a module, its embedded SQL, its test.

# tenure_module(NAME [SOURCES ...] [DEPENDS modules...] [LINK libraries...] [PRIVATE_LINK libraries...])
#
# One folder of src/ as one static library `tenure_NAME`. Its headers are reached as "NAME/file.hpp" through
# an include folder that holds nothing but this module, so a module sees exactly what it DEPENDS on
# (and what those depend on): an include that breaks the layering does not compile.
function(tenure_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  set(include_root ${CMAKE_BINARY_DIR}/include/${NAME})
  file(MAKE_DIRECTORY ${include_root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_root}/${NAME} SYMBOLIC)
  set(target tenure_${NAME})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC ${include_root})
  list(TRANSFORM ARG_DEPENDS PREPEND tenure_)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# tenure_embed_sql(MODULE [FOLDER sql])
#
# Each FOLDER/{postgres,sqlite}/NAME.sql becomes the constant tenure::MODULE::FOLDER::kName in the generated
# header "MODULE_FOLDER/queries.hpp"; the query's name in metrics and traces is "MODULE.name". An engine may
# leave a query out: running it there is then a no-op (SQLite needs no row locks, for one).
function(tenure_embed_sql MODULE)
  cmake_parse_arguments(ARG "" "FOLDER" "" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER sql)
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER})
  set(generated ${CMAKE_BINARY_DIR}/generated/${MODULE})
  set(name ${MODULE}_${ARG_FOLDER})
  file(GLOB files CONFIGURE_DEPENDS ${source}/postgres/*.sql ${source}/sqlite/*.sql)
  set(outputs ${generated}/${name}/queries.hpp ${generated}/${name}/queries.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DPREFIX=${MODULE} -DNAMESPACE=tenure::${MODULE}::${ARG_FOLDER}
            -DHEADER=${name}/queries.hpp -DSOURCE=${source} -DOUTPUT=${generated}/${name}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedSql.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedSql.cmake
    COMMENT "Embedding ${name}")
  target_sources(tenure_${MODULE} PRIVATE ${outputs})
  target_include_directories(tenure_${MODULE} PUBLIC ${generated})
endfunction()

# tenure_test(NAME SOURCES ... LINK ... [LABELS ...] [TIMEOUT seconds])
#
# One test program, registered as one ctest entry: starting a PostgreSQL cluster once per program is what
# makes real stores affordable, so a program is not split into one process per test case.
#
# Labels say when ./test runs it: `unit` is part of --quick, `threads` also runs under TSan; `api` and `chaos`
# start the real server, which is then built before them. The target `tests_LABEL` builds all of one label.
# TIMEOUT is for a program that needs longer than the few minutes that ./test allows, also in --long.
function(tenure_test NAME)
  if(NOT TENURE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES LABELS "${ARG_LABELS}"
    ENVIRONMENT "TENURE_BINARY=$<TARGET_FILE:tenure>;TENURE_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
  if(ARG_TIMEOUT)  # the long ones first: they are what the others can run beside
    set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST 100)
  endif()
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${NAME})
  endforeach()
  if("api" IN_LIST ARG_LABELS OR "chaos" IN_LIST ARG_LABELS)
    add_dependencies(${NAME} tenure)
  endif()
endfunction()
