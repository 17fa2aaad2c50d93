#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/usage_error.hpp"
#include "auth/signer.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/read_file.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::size_t kMaxKeyBytes = 64 * 1024;
constexpr std::int64_t kMaxTtlMs = 3'650LL * 86'400'000;

auth::Signer ReadSigner(const std::string& path) {
  try {
    return auth::Signer::Parse(base::ReadWholeFile(path, kMaxKeyBytes));
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", config::Printable(path), error.what()));
  }
}

class TokenIssue final : public Command {
 public:
  std::string_view words() const override { return "token issue"; }
  std::string_view summary() const override { return "Make a token with a key of your own"; }
  std::string notes() const override {
    return "For trying, for tests, and where there is no identity provider. Issuer and audience "
           "must "
           "be\nthose of the server's settings.\n\n"
           "Example:\n"
           "  tenure token issue --key key.json --tenant acme --person ada \\\n"
           "                     --scope \"leases:read leases:write\" > token\n"
           "  tenure lease list --token-file token\n";
  }
  void Declare(Flags& flags) override {
    const auto required = Flags::Need::kRequired;
    const auto optional = Flags::Need::kOptional;
    flags.Add(Flags::Value{"--key", "FILE", "The private key, of `tenure token keygen`.", required,
                           &key_});
    flags.Add(Flags::Value{"--tenant", "NAME", "Whose things it opens (tid).", required, &tenant_});
    flags.Add(Flags::Value{"--person", "NAME", "Who shows it (sub).", required, &person_});
    flags.Add(Flags::Value{"--scope", "WORDS", "What it allows, with spaces between [nothing].",
                           optional, &scope_});
    flags.Add(Flags::Value{"--ttl", "DURATION", "How long it is good for [1h].", optional, &ttl_});
    flags.Add(Flags::Value{"--issuer", "NAME", "iss [tenure].", optional, &issuer_});
    flags.Add(Flags::Value{"--audience", "NAME", "aud [tenure].", optional, &audience_});
  }

  int Run(Console& console) override {
    const std::int64_t ttl_ms = DurationFlag("--ttl", ttl_.value_or("1h"), {1'000, kMaxTtlMs});
    const std::int64_t now_s = base::SystemClock().WallMs() / 1'000;
    std::string claims;
    base::JsonWriter json(claims);
    json.BeginObject();
    const auto add = [&](std::string_view name, std::string_view value) {
      if (value.empty() || !base::IsStorableText(value))
        throw UsageError(fmt::format("what becomes '{}' must be text, and not empty", name));
      json.Field(name, value);
    };
    add("iss", issuer_.value_or("tenure"));
    add("aud", audience_.value_or("tenure"));
    add("tid", *tenant_);
    add("sub", *person_);
    if (scope_) add("scope", *scope_);
    json.Field("iat", now_s).Field("exp", now_s + ttl_ms / 1'000);
    json.Field("jti", std::string_view(base::RandomHex(16))).EndObject();
    console.out << ReadSigner(*key_).Sign(claims) << "\n";
    return kExitDone;
  }

 private:
  std::optional<std::string> key_;
  std::optional<std::string> tenant_;
  std::optional<std::string> person_;
  std::optional<std::string> scope_;
  std::optional<std::string> ttl_;
  std::optional<std::string> issuer_;
  std::optional<std::string> audience_;
};

}  // namespace

std::unique_ptr<Command> MakeTokenIssue() { return std::make_unique<TokenIssue>(); }

}  // namespace tenure::app
