#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenure::api {

struct ProgramResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs `tenure ARGUMENTS` to its end. Nothing of the caller's environment configures it.
ProgramResult RunTenure(std::vector<std::string> arguments,
                        std::vector<std::pair<std::string, std::string>> environment = {});

}  // namespace tenure::api
