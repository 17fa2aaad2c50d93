# Run as a script: compiles DASHBOARD with ESBUILD into FOLDER and writes OUTPUT, a source file with all that came out.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${DASHBOARD}/vendor
          ${ESBUILD} src/main.tsx src/style.css src/icon.svg --bundle --minify --splitting --format=esm --target=es2022
          --loader:.svg=copy --tsconfig=tsconfig.build.json --outdir=${FOLDER} --entry-names=[name]-[hash] --chunk-names=[name]-[hash]
          --legal-comments=eof --log-level=warning
  WORKING_DIRECTORY ${DASHBOARD}
  RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed OR said)
  message(FATAL_ERROR "The page does not compile:\n${said}")
endif()

set(FUNCTION Assets)
include(${CMAKE_CURRENT_LIST_DIR}/EmbedFolder.cmake)
