# Run as a script: compiles DASHBOARD with ESBUILD into FOLDER and writes OUTPUT, a source file with all that came out,
# plain and compressed. The files' bytes are taken in by the assembler: they may be as large as they like.
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

file(GLOB files ${FOLDER}/*)
set(bytes "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  execute_process(COMMAND ${GZIP} -9nk ${file} COMMAND_ERROR_IS_FATAL ANY)
  get_filename_component(name ${file} NAME)
  foreach(form plain gzip)
    if(form STREQUAL "gzip")
      set(path ${file}.gz)
    else()
      set(path ${file})
    endif()
    string(APPEND bytes "asm(\".pushsection .rodata\\n\"\n    \"page_${form}_${number}:\\n.incbin \\\"${path}\\\"\\n\"\n    \"page_${form}_${number}_end:\\n.popsection\\n\");\n"
      "extern \"C\" const char page_${form}_${number}[], page_${form}_${number}_end[];\n")
  endforeach()
  string(APPEND rows "    {\"${name}\", Between(page_plain_${number}, page_plain_${number}_end),\n     Between(page_gzip_${number}, page_gzip_${number}_end)},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Generated from dashboard/; do not edit.
#include \"page/assets.hpp\"

${bytes}
namespace tenure::page {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

const Asset kAssets[] = {
${rows}};

}  // namespace

std::span<const Asset> Assets() { return kAssets; }

}  // namespace tenure::page
")
