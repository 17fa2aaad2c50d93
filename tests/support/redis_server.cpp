#include "support/redis_server.hpp"

#include <fstream>
#include <utility>

namespace tenure::support {

RedisServer::RedisServer(RedisOptions options) : options_(std::move(options)) {
  if (options_.tls) {
    Authority authority;
    const Certificate certificate = authority.Issue();
    std::ofstream(ca_file()) << authority.pem();
    std::ofstream(dir_ / "cert.pem") << certificate.certificate;
    std::ofstream(dir_ / "key.pem") << certificate.key;
  }
  Start();
}

std::string RedisServer::Url(const std::string& parameters) const {
  return "redis+unix://" + socket().string() + (parameters.empty() ? "" : "?" + parameters);
}

std::string RedisServer::TlsUrl(const std::string& parameters) const {
  return "rediss://localhost:" + std::to_string(port()) + "?ca_file=" + ca_file().string() +
         (parameters.empty() ? "" : "&" + parameters);
}

std::string RedisServer::Command(const std::vector<std::string>& words) const {
  std::vector<std::string> argv{"redis-cli", "-s", socket()};
  argv.insert(argv.end(), words.begin(), words.end());
  return RunCommand({.argv = std::move(argv)});
}

void RedisServer::Kill() {
  server_->Kill(SIGKILL);
  server_->Wait();
}

void RedisServer::Start() {
  std::vector<std::string> argv{"redis-server", "--port", "0", "--unixsocket", socket(), "--dir",
                                dir_.path(),    "--save", "",  "--daemonize",  "no"};
  const auto add = [&](std::initializer_list<std::string> more) {
    argv.insert(argv.end(), more.begin(), more.end());
  };
  if (options_.durable) add({"--appendonly", "yes", "--appendfsync", "always"});
  if (options_.tls)
    add({"--tls-port", std::to_string(port()), "--bind", "127.0.0.1", "--tls-cert-file",
         dir_ / "cert.pem", "--tls-key-file", dir_ / "key.pem", "--tls-ca-cert-file", ca_file(),
         "--tls-auth-clients", "no"});
  argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
  std::filesystem::remove(socket());
  server_ = std::make_unique<Process>(ProcessOptions{.argv = std::move(argv),
                                                     .environment = options_.environment,
                                                     .working_dir = dir_.path(),
                                                     .output = dir_ / "redis.log"});
  server_->WaitForLine("ready to accept connections at");
}

}  // namespace tenure::support
