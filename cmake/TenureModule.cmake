# The build's few words: a module, its embedded SQL, its test.

# tenure_units(OUT NAME files...)
#
# Writes translation units that include several of the files each, and puts their names into OUT: the headers that
# the files share are then read once, by the compiler and by clang-tidy. So names in anonymous namespaces differ
# between the files of a module, and between those of a test program. A file with the property
# SKIP_UNITY_BUILD_INCLUSION stays by itself.
set(TENURE_UNIT_SIZE 20 CACHE STRING "Source files per translation unit")
function(tenure_units OUT NAME)
  set(units "")
  set(together "")
  foreach(file IN LISTS ARGN)
    get_source_file_property(alone ${file} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      list(APPEND units ${file})
    else()
      list(APPEND together ${file})
    endif()
  endforeach()
  list(LENGTH together left)
  set(number 0)
  while(left GREATER 0)
    set(text "")
    # Even shares: a unit of one file at the end would save nothing.
    math(EXPR share "(${left} + (${left} + ${TENURE_UNIT_SIZE} - 1) / ${TENURE_UNIT_SIZE} - 1)
                     / ((${left} + ${TENURE_UNIT_SIZE} - 1) / ${TENURE_UNIT_SIZE})")
    foreach(i RANGE 1 ${share})
      list(POP_FRONT together file)
      file(RELATIVE_PATH path ${CMAKE_BINARY_DIR}/units ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(unit ${CMAKE_BINARY_DIR}/units/${NAME}_${number}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)  # touched only when it differs
    list(APPEND units ${unit})
    math(EXPR number "${number} + 1")
    math(EXPR left "${left} - ${share}")
  endwhile()
  set(${OUT} ${units} PARENT_SCOPE)
endfunction()

# tenure_module(NAME [SOURCES ...] [DEPENDS modules...] [LINK libraries...] [PRIVATE_LINK libraries...])
#
# One folder of src/ as one static library `tenure_NAME`. Its headers are reached as "NAME/file.hpp" through
# an include folder that holds nothing but this module, so a module sees exactly what it DEPENDS on
# (and what those depend on): an include that breaks the layering does not compile. A part of a folder that may
# see less than the rest is a module of its own: NAME is then "folder/part", and the library `tenure_folder_part`.
function(tenure_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  string(REPLACE "/" "_" id ${NAME})
  string(REPLACE "/" "_" ARG_DEPENDS "${ARG_DEPENDS}")
  set(include_root ${CMAKE_BINARY_DIR}/include/${id})
  cmake_path(GET NAME PARENT_PATH above)
  file(MAKE_DIRECTORY ${include_root}/${above})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_root}/${NAME} SYMBOLIC)
  set(target tenure_${id})
  tenure_units(units ${id} ${ARG_SOURCES})
  add_library(${target} STATIC ${units})
  target_include_directories(${target} PUBLIC ${include_root})
  list(TRANSFORM ARG_DEPENDS PREPEND tenure_)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# tenure_embed_sql(MODULE [FOLDER sql])
#
# Each FOLDER/{postgres,sqlite}/NAME.sql becomes the constant tenure::MODULE::FOLDER::kName in the generated
# header "MODULE_FOLDER/queries.hpp"; the query's name in metrics and traces is "MODULE.name". An engine may
# leave a query out: running it there is then a no-op (SQLite needs no row locks, for one). What both engines read alike
# is in FOLDER/both, in PostgreSQL's words.
function(tenure_embed_sql MODULE)
  cmake_parse_arguments(ARG "" "FOLDER" "" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER sql)
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER})
  set(generated ${CMAKE_BINARY_DIR}/generated/${MODULE})
  set(name ${MODULE}_${ARG_FOLDER})
  file(GLOB files CONFIGURE_DEPENDS ${source}/both/*.sql ${source}/postgres/*.sql ${source}/sqlite/*.sql)
  string(MD5 names "${files}") # in the command: a file that was removed or renamed is no newer than what was made of it
  set(outputs ${generated}/${name}/queries.hpp ${generated}/${name}/queries.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DPREFIX=${MODULE} -DNAMESPACE=tenure::${MODULE}::${ARG_FOLDER}
            -DHEADER=${name}/queries.hpp -DSOURCE=${source} -DOUTPUT=${generated}/${name} -DNAMES=${names}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedSql.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedSql.cmake
    COMMENT "Embedding ${name}")
  target_sources(tenure_${MODULE} PRIVATE ${outputs})
  target_include_directories(tenure_${MODULE} PUBLIC ${generated})
endfunction()

# tenure_embed_lua(MODULE FOLDER)
#
# Each FOLDER/NAME.lua becomes the constant tenure::MODULE::lua::kName of type string_view in the generated header
# "MODULE_lua/scripts.hpp". NAME is one word.
function(tenure_embed_lua MODULE FOLDER)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${FOLDER})
  set(generated ${CMAKE_BINARY_DIR}/generated/${MODULE})
  set(name ${MODULE}_lua)
  file(GLOB files CONFIGURE_DEPENDS ${source}/*.lua)
  string(MD5 names "${files}") # as above
  set(outputs ${generated}/${name}/scripts.hpp ${generated}/${name}/scripts.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DNAMESPACE=tenure::${MODULE}::lua -DHEADER=${name}/scripts.hpp -DSOURCE=${source}
            -DOUTPUT=${generated}/${name} -DNAMES=${names} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedLua.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedLua.cmake
    COMMENT "Embedding ${name}")
  target_sources(tenure_${MODULE} PRIVATE ${outputs})
  target_include_directories(tenure_${MODULE} PUBLIC ${generated})
endfunction()

# tenure_test(NAME SOURCES ... LINK ... [LABELS ...] [TIMEOUT seconds])
#
# One test program, registered as one ctest entry: starting a PostgreSQL cluster once per program is what
# makes real stores affordable, so a program is not split into one process per test case.
#
# Sanitizers watch what is tested. So UndefinedBehaviorSanitizer leaves the test files themselves out, and there
# AddressSanitizer looks at the heap and not at local variables: both cost a quarter of the compiler's time (docs/decisions/0013).
# ./test --long has the latter, too.
#
# Labels say when ./test runs it: `unit` is part of --quick, `threads` also runs under TSan; `api` and `chaos`
# start the real server, which is then built before them. The target `tests_LABEL` builds all of one label.
# TIMEOUT is for a program that needs longer than the few minutes that ./test allows, also in --long. A test that hangs
# ends its program and is named (tests/support/watchdog.cpp).
function(tenure_test NAME)
  if(NOT TENURE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  tenure_units(units ${NAME} ${ARG_SOURCES})
  add_executable(${NAME} ${units})
  if(TENURE_SANITIZE MATCHES "undefined")
    target_compile_options(${NAME} PRIVATE -fno-sanitize=undefined)
  endif()
  if(TENURE_SANITIZE MATCHES "address" AND NOT TENURE_SANITIZE_POINTERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${NAME} PRIVATE --param=asan-stack=0)
    if(NOT "sim" IN_LIST ARG_LABELS)  # calls are less to compile than checks in line, and slower
      target_compile_options(${NAME} PRIVATE --param=asan-instrumentation-with-call-threshold=0)
    endif()
  endif()
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK} tenure_test_watchdog GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES LABELS "${ARG_LABELS}"
    ENVIRONMENT "TENURE_BINARY=$<TARGET_FILE:tenure>;TENURE_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
  # Shorter stacks of who allocated what, and less memory that waits to be used again. A simulation takes a quarter less
  # time when that memory stays in the processor's cache; what it does is repeated by its seed, with longer stacks if wanted.
  if(TENURE_SANITIZE MATCHES "address")
    set(options "malloc_context_size=6:quarantine_size_mb=16")
    if("sim" IN_LIST ARG_LABELS)
      set(options "malloc_context_size=2:quarantine_size_mb=1:thread_local_quarantine_size_kb=64")
    endif()
    set_property(TEST ${NAME} APPEND PROPERTY ENVIRONMENT "ASAN_OPTIONS=${options}")
  endif()
  # A program that hangs says where, a minute before ctest ends it.
  set(seconds usual)
  if(ARG_TIMEOUT)
    # The long ones first. Those of chaos wait more than they work, and each takes two of ./test's four places on two
    # cores; simulations, the longest that only compute, fill the others.
    set(cost 100)
    if("chaos" IN_LIST ARG_LABELS)
      set(cost 300)
    elseif("sim" IN_LIST ARG_LABELS)
      set(cost 200)
    endif()
    set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST ${cost})
    math(EXPR seconds "${ARG_TIMEOUT} - 60")
  endif()
  set_property(TEST ${NAME} APPEND PROPERTY ENVIRONMENT "TENURE_TEST_SECONDS=${seconds}")
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
