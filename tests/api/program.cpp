#include "api/program.hpp"

#include <fstream>
#include <iterator>

#include "support/server_process.hpp"

namespace tenure::api {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ProgramResult RunTenure(std::vector<std::string> arguments,
                        std::vector<std::pair<std::string, std::string>> environment) {
  const support::TempDir dir;
  arguments.insert(arguments.begin(), support::TenureBinary());
  support::Process process({.argv = std::move(arguments),
                            .environment = std::move(environment),
                            .working_dir = dir.path(),
                            .output = dir / "out",
                            .error_output = dir / "err"});
  const int exit_code = process.Wait();
  return {exit_code, ReadAll(dir / "out"), ReadAll(dir / "err")};
}

}  // namespace tenure::api
