#include <fmt/format.h>

#include "app/cli/answer.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/token_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "auth/jws.hpp"
#include "auth/key_text.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "config/printable.hpp"
#include "http/json_value.hpp"

namespace tenure::app {
namespace {

auth::KeySet ReadKeys(const std::string& path) {
  try {
    return {.keys = auth::ParseKeyFile(base::ReadWholeFile(path, auth::kMaxKeyTextBytes))};
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", config::Printable(path), error.what()));
  }
}

/// A claim for people: one text or several, with spaces between.
std::string TextOf(const http::JsonValue* claim) {
  if (!claim) return "-";
  if (const auto text = claim->Text()) return config::Printable(*text);
  std::string joined;
  if (const auto* const elements = claim->Elements())
    for (const http::JsonValue& element : *elements)
      joined += (joined.empty() ? "" : " ") + config::Printable(element.Text().value_or("?"));
  return joined.empty() ? "?" : joined;
}

std::string TimeOf(const http::JsonValue* claim) {
  constexpr double kYear10000 = 253'402'300'800;
  const auto seconds = claim ? claim->Number() : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds >= kYear10000) return "-";
  const auto ms = static_cast<std::int64_t>(*seconds * 1'000);
  const std::int64_t left_ms = (ms - base::SystemClock().WallMs()) / 1'000 * 1'000;
  return fmt::format(
      "{} ({})", base::UtcText(ms),
      left_ms > 0 ? "in " + base::DurationText(left_ms) : base::DurationText(-left_ms) + " ago");
}

class TokenInspect final : public Command {
 public:
  std::string_view words() const override { return "token inspect"; }
  std::string_view summary() const override { return "Show what a token says"; }
  std::string notes() const override {
    return "Without --key nothing of it is verified. The token comes from --token-file or "
           "TENURE_TOKEN.\n\n"
           "Example:\n  tenure token inspect --token-file token --key key.json.pub\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Value{"--token-file", "FILE", "The token [else TENURE_TOKEN].",
                           Flags::Need::kOptional, &file_});
    flags.Add(Flags::Value{"--key", "FILE", "The server's keys: PEM, JWK or JWKS.",
                           Flags::Need::kOptional, &key_});
    flags.Add(Flags::Switch{"--json", "Print header and claims as JSON.", &json_});
  }

  int Run(Console& console) override {
    const std::string token = ChooseToken(file_);
    if (token.empty()) throw UsageError("give a token: --token-file FILE, or TENURE_TOKEN");
    try {
      return Show(auth::ParseJws(token), console);
    } catch (const auth::TokenError& error) {
      throw base::UserError(fmt::format("the token: {}", error.what()));
    }
  }

 private:
  int Show(const auth::Jws& jws, Console& console) {
    const auto claims = http::JsonValue::Parse(jws.payload);
    if (!claims) throw auth::TokenError("Its claims are not JSON.");
    const bool good = key_ && auth::Verify(jws, ReadKeys(*key_)) == auth::Verdict::kGood;
    if (json_)
      PrintJson(fmt::format(R"({{"header":{},"claims":{}}})", jws.header, jws.payload), console);
    else
      Print(jws, *claims, !key_ ? "not checked" : good ? "good" : "of none of these keys", console);
    return !key_ || good ? kExitDone : kExitError;
  }

  static void Print(const auth::Jws& jws, const http::JsonValue& claims, const char* signature,
                    Console& console) {
    const auto line = [&](std::string_view name, const std::string& text) {
      console.out << fmt::format("{:<10} {}\n", name, text);
    };
    line("algorithm", std::string(auth::ToText(jws.algorithm)));
    line("key", config::Printable(jws.kid.value_or("-")));
    line("signature", signature);
    line("issuer", TextOf(claims.Find("iss")));
    line("audience", TextOf(claims.Find("aud")));
    line("tenant", TextOf(claims.Find(claims.Find("tid") ? "tid" : "org_id")));
    line("person", TextOf(claims.Find("sub")));
    line("scopes", TextOf(claims.Find(claims.Find("scope") ? "scope" : "scp")));
    line("begins", TimeOf(claims.Find("nbf")));
    line("ends", TimeOf(claims.Find("exp")));
  }

  std::optional<std::string> file_;
  std::optional<std::string> key_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTokenInspect() { return std::make_unique<TokenInspect>(); }

}  // namespace tenure::app
