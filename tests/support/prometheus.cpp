#include "support/prometheus.hpp"

#include <cctype>
#include <fstream>

#include <fmt/format.h>

#include "support/raw_http.hpp"

namespace tenure::support {
namespace {

constexpr const char* kSettings = R"(global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: tenure
    static_configs:
      - targets: ["127.0.0.1:{}"]
)";

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace

bool Prometheus::Installed() {
  try {
    RunCommand({.argv = {"prometheus", "--version"}});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Prometheus::Prometheus(int scraped_port) {
  const auto file = dir_ / "prometheus.yml";
  std::ofstream(file) << fmt::format(kSettings, scraped_port);
  server_ = std::make_unique<Process>(
      ProcessOptions{.argv = {"prometheus", "--config.file=" + file.string(),
                              "--storage.tsdb.path=" + (dir_ / "data").string(),
                              fmt::format("--web.listen-address=127.0.0.1:{}", port_.number())},
                     .working_dir = dir_.path(),
                     .output = dir_ / "prometheus.log"});
  server_->WaitForLine("Server is ready to receive web requests");
}

Json Prometheus::Query(std::string_view expression) const {
  return Call(port_.number(), "GET", "/api/v1/query?query=" + PercentEncoded(expression)).Json();
}

}  // namespace tenure::support
