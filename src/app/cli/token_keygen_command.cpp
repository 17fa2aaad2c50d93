#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/usage_error.hpp"
#include "auth/signer.hpp"
#include "base/error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

/// A new file: what is there already is never overwritten, least of all a key.
void WriteNew(const std::string& path, const std::string& text, mode_t mode) {
  const auto fail = [&] {
    throw base::UserError(fmt::format("{}: {}", config::Printable(path), std::strerror(errno)));
  };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) fail();
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       fsync(file) == 0;
  close(file);
  if (!written) fail();
}

class TokenKeygen final : public Command {
 public:
  std::string_view words() const override { return "token keygen"; }
  std::string_view summary() const override { return "Make a key that signs tokens"; }
  std::string notes() const override {
    return "FILE gets the private key (a JWK that only you can read), FILE.pub the public one, "
           "which "
           "is for\nthe server. HS256 has no public half: the server is given FILE itself.\n\n"
           "Example:\n"
           "  tenure token keygen --out key.json\n"
           "  tenure serve --set auth.issuer=tenure --set auth.audience=tenure "
           "--set auth.keys=key.json.pub\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Value{"--out", "FILE", "Where the private key goes; it must not exist.",
                           Flags::Need::kRequired, &out_});
    flags.Add(Flags::Value{"--algorithm", "NAME", "EdDSA, ES256, RS256 or HS256 [EdDSA].",
                           Flags::Need::kOptional, &algorithm_});
  }

  int Run(Console& console) override {
    const auto algorithm = auth::ParseAlgorithm(algorithm_.value_or("EdDSA"));
    if (!algorithm) throw UsageError("--algorithm takes EdDSA, ES256, RS256 or HS256");
    const auth::Signer signer = auth::Signer::Generate(*algorithm);
    constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
    WriteNew(*out_, signer.private_jwk(), kOwnerOnly);
    std::string for_server = *out_;
    if (*algorithm != auth::Algorithm::kHs256) {
      for_server += ".pub";
      WriteNew(for_server, signer.public_jwk(), kOwnerOnly | S_IRGRP | S_IROTH);
    }
    console.out << fmt::format("key       {}\nprivate   {}\nserver    {}\n", signer.kid(),
                               config::Printable(*out_), config::Printable(for_server));
    return kExitDone;
  }

 private:
  std::optional<std::string> out_;
  std::optional<std::string> algorithm_;
};

}  // namespace

std::unique_ptr<Command> MakeTokenKeygen() { return std::make_unique<TokenKeygen>(); }

}  // namespace tenure::app
