#include "auth/token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "auth/key_text.hpp"
#include "auth/signer.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"
#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"
#include "http/json_value.hpp"

namespace tenure::app {
namespace {

using cli::Given;

constexpr std::size_t kMaxKeyBytes = 64 * 1024;
constexpr std::int64_t kMaxTtlMs = 3'650LL * 86'400'000;

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

int Keygen(const Given& given, cli::Console& console) {
  const std::string& out = given.Text("--out");
  const auto algorithm = auth::ParseAlgorithm(given.Or("--algorithm", "EdDSA"));
  if (!algorithm) throw cli::UsageError("--algorithm takes EdDSA, ES256, RS256 or HS256");
  const auth::Signer signer = auth::Signer::Generate(*algorithm);
  constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
  WriteNew(out, signer.private_jwk(), kOwnerOnly);
  std::string for_server = out;
  if (*algorithm != auth::Algorithm::kHs256) {
    for_server += ".pub";
    WriteNew(for_server, signer.public_jwk(), kOwnerOnly | S_IRGRP | S_IROTH);
  }
  console.out << fmt::format("key       {}\nprivate   {}\nserver    {}\n", signer.kid(),
                             config::Printable(out), config::Printable(for_server));
  return cli::kExitDone;
}

/// What `parse` makes of a file with keys; what is wrong is said with its name.
template <class Parse>
auto ReadKeyFile(const std::string& path, std::size_t most_bytes, const Parse& parse) {
  try {
    return parse(base::ReadWholeFile(path, most_bytes));
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", config::Printable(path), error.what()));
  }
}

int Issue(const Given& given, cli::Console& console) {
  const std::int64_t ttl_ms = cli::ToNumber(given.Or("--ttl", "3600000"));
  const std::int64_t now_s = base::SystemClock().WallMs() / 1'000;
  std::string claims;
  base::JsonWriter json(claims);
  json.BeginObject();
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty() || !base::IsStorableText(value))
      throw cli::UsageError(fmt::format("what becomes '{}' must be text, and not empty", name));
    json.Field(name, value);
  };
  add("iss", given.Or("--issuer", "tenure"));
  add("aud", given.Or("--audience", "tenure"));
  add("tid", given.Text("--tenant"));
  add("sub", given.Text("--person"));
  if (given.Has("--scope")) add("scope", given.Text("--scope"));
  json.Field("iat", now_s).Field("exp", now_s + ttl_ms / 1'000);
  json.Field("jti", std::string_view(base::RandomHex(16))).EndObject();
  console.out << ReadKeyFile(given.Text("--key"), kMaxKeyBytes, auth::Signer::Parse).Sign(claims)
              << "\n";
  return cli::kExitDone;
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

void PrintToken(const auth::Jws& jws, const http::JsonValue& claims, const char* signature,
                cli::Console& console) {
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

int InspectToken(const auth::Jws& jws, const std::string* key, bool as_json,
                 cli::Console& console) {
  const auto claims = http::JsonValue::Parse(jws.payload);
  if (!claims) throw auth::TokenError("Its claims are not JSON.");
  const bool good =
      key &&
      auth::Verify(jws, {.keys = ReadKeyFile(*key, auth::kMaxKeyTextBytes, auth::ParseKeyFile)}) ==
          auth::SignatureCheck::kGood;
  if (as_json)
    PrintJson(fmt::format(R"({{"header":{},"claims":{}}})", jws.header, jws.payload), console);
  else
    PrintToken(jws, *claims,
               !key   ? "not checked"
               : good ? "good"
                      : "of none of these keys",
               console);
  return !key || good ? cli::kExitDone : cli::kExitError;
}

int Inspect(const Given& given, cli::Console& console) {
  const std::string token = cli::ChooseToken(given);
  if (token.empty()) throw cli::UsageError("give a token: --token-file FILE, or TENURE_TOKEN");
  try {
    return InspectToken(auth::ParseJws(token), given.Find("--key"), given.Has("--json"), console);
  } catch (const auth::TokenError& error) {
    throw base::UserError(fmt::format("the token: {}", error.what()));
  }
}

}  // namespace

cli::Commands TokenCommands() {
  using namespace cli;  // the words of its tables
  return {
      {.words = "token keygen",
       .summary = "Make a key that signs tokens",
       .notes = "FILE gets the private key (a JWK that only you can read), FILE.pub the public "
                "one, which is for\nthe server. HS256 has no public half: the server is given FILE "
                "itself.\n\nExample:\n  tenure token keygen --out key.json\n"
                "  tenure serve --set auth.issuer=tenure --set auth.audience=tenure "
                "--set auth.keys=key.json.pub\n",
       .flags = {Required("--out", "FILE", "Where the private key goes; it must not exist."),
                 Value("--algorithm", "NAME", "EdDSA, ES256, RS256 or HS256 [EdDSA].")},
       .run = Keygen,
       .part = Part::kLookAfter},
      {.words = "token issue",
       .summary = "Make a token with a key of your own",
       .notes = "For trying, for tests, and where there is no identity provider. Issuer and "
                "audience must be\nthose of the server's settings.\n\nExample:\n"
                "  tenure token issue --key key.json --tenant acme --person ada \\\n"
                "                     --scope \"leases:read leases:write\" > token\n"
                "  tenure lease list --token-file token\n",
       .flags = {Required("--key", "FILE", "The private key, of `tenure token keygen`."),
                 Required("--tenant", "NAME", "Whose things it opens (tid)."),
                 Required("--person", "NAME", "Who shows it (sub)."),
                 Value("--scope", "WORDS", "What it allows, with spaces between [nothing]."),
                 Value("--ttl", "DURATION", "How long it is good for [1h].",
                       Duration({1'000, kMaxTtlMs})),
                 Value("--issuer", "NAME", "iss [tenure]."),
                 Value("--audience", "NAME", "aud [tenure].")},
       .run = Issue,
       .part = Part::kLookAfter},
      {.words = "token inspect",
       .summary = "Show what a token says",
       .notes = "Without --key nothing of it is verified. The token comes from --token-file or "
                "TENURE_TOKEN.\n\nExample:\n"
                "  tenure token inspect --token-file token --key key.json.pub\n",
       .flags = {Value("--token-file", "FILE", "The token [else TENURE_TOKEN]."),
                 Value("--key", "FILE", "The server's keys: PEM, JWK or JWKS."),
                 Switch("--json", "Print header and claims as JSON.")},
       .run = Inspect,
       .part = Part::kLookAfter}};
}

}  // namespace tenure::app
