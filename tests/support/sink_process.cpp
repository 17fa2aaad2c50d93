#include "support/sink_process.hpp"

#include <regex>
#include <stdexcept>

#include "support/server_process.hpp"

namespace tenure::support {
namespace {

/// Part of the text that `tenure usage-sink` prints once it accepts connections.
const char* const kServes = "listens on http://127\\.0\\.0\\.1:([0-9]+)/usages";

std::vector<std::string> CommandLine(const SinkOptions& options,
                                     const std::optional<TempDir>& own_data) {
  std::vector<std::string> argv = {options.binary.empty() ? TenureBinary() : options.binary,
                                   "usage-sink",
                                   "--listen",
                                   "127.0.0.1:" + std::to_string(options.port),
                                   "--data",
                                   own_data ? own_data->path() : options.data_dir};
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  return argv;
}

}  // namespace

SinkProcess::SinkProcess(SinkOptions options)
    : options_(std::move(options)),
      own_data_(options_.data_dir.empty() ? std::optional<TempDir>(std::in_place) : std::nullopt),
      process_({.argv = CommandLine(options_, own_data_)}) {
  const auto line = process_.WaitForLine(kServes);
  std::smatch match;
  std::regex_search(line, match, std::regex(kServes));
  port_ = std::stoi(match[1]);
}

void SinkProcess::SetFaults(const std::string& faults) const {
  const auto answer = Call("PUT", "/faults", "{\"faults\": \"" + faults + "\"}");
  if (answer.status != 200)
    throw std::runtime_error("the sink does not take the faults: " + answer.body);
}

void SinkProcess::Kill() {
  process_.Kill(SIGKILL);
  process_.Wait();
}

int SinkProcess::Terminate() {
  process_.Kill(SIGTERM);
  return process_.Wait();
}

}  // namespace tenure::support
