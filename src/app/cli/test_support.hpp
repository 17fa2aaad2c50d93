#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::app {

/// What one run of the program left behind.
struct Ran {
  int exit = 0;
  std::string out;
  std::string err;
};

/// The program as a function. `terminal`: whether its output seems to go to one. `typed`: what the
/// person at the terminal types; null: there is none.
Ran RunTenure(const std::vector<std::string>& arguments, bool terminal = false,
              const char* typed = nullptr);

http::Response Ok(std::string body);
/// A problem document.
http::Response Refusal(int status, std::string body);

/// A server on a free port of loopback that gives prepared answers to whatever the commands ask,
/// one after the other, the last one for ever. It notes what it was asked.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<http::Response> answers);
  ~ScriptedServer();

  std::string url() const;
  /// A command that asks it.
  Ran Run(std::vector<std::string> arguments, bool terminal = false,
          const char* typed = nullptr) const {
    arguments.insert(arguments.end(), {"--server", url()});
    return RunTenure(arguments, terminal, typed);
  }
  /// "PUT /sessions {...}", in the order of arrival.
  std::vector<std::string> asked() const;

 private:
  http::Router Routes();
  void Answer(const http::ExchangePtr& exchange);

  mutable std::mutex mutex_;
  std::vector<http::Response> answers_;  // guarded by mutex_
  std::vector<std::string> asked_;       // guarded by mutex_
  telemetry::Registry metrics_;
  const http::Router router_;
  http::Server server_;
};

}  // namespace tenure::app
