// The development credential: whoever is signed in to the command `az` on this machine.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_view.hpp"
#include "client/azure/token_sources.hpp"
#include "leases/descriptor.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kMostAzOutput = 64UL * 1024;
/// `az` renews a token itself when it has less left than this.
constexpr std::chrono::seconds kLeastAzLife{300};

[[noreturn]] void FailAz(std::string_view why) {
  throw leases::ProviderUnavailable(fmt::format("no token (development): {}", why), {});
}

/// A child that is ended and waited for in any case.
class AzProcess {
 public:
  AzProcess(const std::string& scope, int output) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::array<std::string, 7> words{"az",      "account", "get-access-token", "--output", "json",
                                     "--scope", scope};
    std::array<char*, 8> argv{};
    for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
    const int error = ::posix_spawnp(&pid_, "az", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      pid_ = -1;
      FailAz(fmt::format("the command az cannot be run: {}", std::strerror(error)));
    }
  }
  ~AzProcess() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    Wait();
  }
  AzProcess(const AzProcess&) = delete;
  AzProcess& operator=(const AzProcess&) = delete;

  /// Its exit code; REQUIRES: it has closed its output, so it ends soon.
  int Wait() {
    int status = 0;
    if (pid_ <= 0) return -1;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

std::string RunAz(const std::string& scope, std::int64_t until_ms) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) FailAz("there are no more files to be opened");
  const leases::Descriptor in(ends[0]);
  leases::Descriptor out(ends[1]);
  AzProcess az(scope, out.get());
  out = leases::Descriptor();
  std::string text;
  std::array<char, 4'096> room{};
  while (true) {
    const std::int64_t left_ms = until_ms - BootClock().NowMs();
    pollfd waiting{in.get(), POLLIN, 0};
    if (left_ms <= 0 || ::poll(&waiting, 1, static_cast<int>(left_ms)) == 0)
      FailAz("the command az took too long");
    const ssize_t got = ::read(in.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(room.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostAzOutput) FailAz("the command az says too much");
  }
  if (const int code = az.Wait(); code != 0)
    FailAz(fmt::format("the command az ends with {}; is somebody signed in (az login)?", code));
  return text;
}

class Developer final : public leases::TokenSource {
 public:
  leases::AccessToken Get(std::string_view scope, std::chrono::milliseconds timeout) override {
    const std::string text = RunAz(std::string(scope), BootClock().NowMs() + timeout.count());
    const auto body = base::JsonView::Parse(text);
    const auto token = body ? body->Find("accessToken") : std::nullopt;
    leases::AccessToken got{.text = token ? token->Text().value_or("") : "",
                            .lifetime = kLeastAzLife};
    if (got.text.empty()) FailAz("the command az says no accessToken");
    // Older versions say the end only in local time: then what is certain has to do.
    if (const auto until = body->Find("expires_on")) {
      std::int64_t until_s = 0;
      const std::string_view digits = until->text();
      std::from_chars(digits.data(), digits.data() + digits.size(), until_s);
      const std::int64_t left_s = until_s - base::SystemClock().WallMs() / 1'000;
      if (left_s > 0) got.lifetime = std::chrono::seconds(left_s);
    }
    return got;
  }
};

}  // namespace

std::shared_ptr<leases::TokenSource> DeveloperSource() { return std::make_shared<Developer>(); }

}  // namespace tenure::client
