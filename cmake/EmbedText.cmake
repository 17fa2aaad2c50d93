# Run as a script: writes OUTPUT, a source file whose function tenure::app::FUNCTION returns the text of SOURCE.
file(READ ${SOURCE} text)
# A single literal may not be longer than some compilers like; pieces of a list of literals are joined by the compiler.
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND literals "    R\"text(${piece})text\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUTPUT} "// Generated from ${NAME}; do not edit.\n#include \"app/ops_routes.hpp\"\n\nnamespace tenure::app {\n\nstd::string_view ${FUNCTION}() {\n  return {\n${literals}  };\n}\n\n}  // namespace tenure::app\n")
