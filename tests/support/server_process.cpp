#include "support/server_process.hpp"

#include <cstdlib>
#include <iostream>
#include <regex>
#include <stdexcept>

#include <gtest/gtest.h>

namespace tenure::support {
namespace {

/// Part of the text that is printed once connections are accepted.
const char* const kServes = "(https?)://127\\.0\\.0\\.1:([0-9]+)";

ProcessOptions CommandLine(const char* command, const ServerOptions& options,
                           const std::optional<TempDir>& own_data) {
  std::vector<std::string> argv = {options.binary.empty() ? TenureBinary() : options.binary,
                                   command, "--listen",
                                   "127.0.0.1:" + std::to_string(options.port)};
  if (!options.store_url.empty()) {
    argv.insert(argv.end(), {"--store", options.store_url});
  } else {
    argv.insert(argv.end(), {"--data", own_data ? own_data->path() : options.data_dir});
  }
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  return {.argv = std::move(argv), .environment = options.environment};
}

}  // namespace

std::filesystem::path TenureBinary() {
  const char* binary = std::getenv("TENURE_BINARY");
  if (binary == nullptr) throw std::runtime_error("TENURE_BINARY does not name the program");
  return binary;
}

ServingProcess::ServingProcess(const char* command, ServerOptions options)
    : options_(std::move(options)),
      own_data_(options_.store_url.empty() && options_.data_dir.empty()
                    ? std::optional<TempDir>(std::in_place)
                    : std::nullopt),
      process_(CommandLine(command, options_, own_data_)) {
  const auto line = process_.WaitForLine(kServes);
  std::smatch match;
  std::regex_search(line, match, std::regex(kServes));
  scheme_ = match[1];
  port_ = std::stoi(match[2]);
}

ServingProcess::~ServingProcess() {
  if (testing::Test::HasFailure())
    std::cerr << "--- output of the server on port " << port_ << " (pid " << pid() << ")\n"
              << Output() << "--- end of its output\n";
}

void ServingProcess::Kill() {
  process_.Kill(SIGKILL);
  process_.Wait();
}

int ServingProcess::Terminate() {
  process_.Kill(SIGTERM);
  return process_.Wait();
}

void SinkProcess::SetFaults(const std::string& faults) const {
  const auto answer = Call("PUT", "/faults", "{\"faults\": \"" + faults + "\"}");
  if (answer.status != 200)
    throw std::runtime_error("the sink does not take the faults: " + answer.body);
}

}  // namespace tenure::support
