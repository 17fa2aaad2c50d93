# Run as a script: makes the pages of /docs/ of REPOSITORY with RENDER into FOLDER, and writes OUTPUT with all of them.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${RENDER} ${REPOSITORY} ${FOLDER} ${VERSION} RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "The documents cannot be served as they are:\n${said}")
endif()
file(COPY ${REPOSITORY}/cmake/docs/style.css DESTINATION ${FOLDER})

set(FUNCTION Docs)
include(${CMAKE_CURRENT_LIST_DIR}/EmbedFolder.cmake)
