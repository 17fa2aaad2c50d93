// webhooks::rules: what a source of webhooks sends: the signature, a form, and a payload on its way
// to a bot's session. The first byte says which.
//
// What must hold: a body is signed by the secret that signed it and by no other header; a form's
// payload comes back from its own encoding; every event, known or not, has a proper key in every
// ordered queue.

#include <array>

#include "target.hpp"
#include "webhooks/rules/form.hpp"
#include "webhooks/rules/key_text.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks/rules/signature.hpp"

namespace {

namespace rules = tenure::webhooks::rules;

void FuzzSignature(std::string_view text) {
  const std::size_t cut = text.find('\n');
  const std::string_view header = text.substr(0, cut);
  const std::string_view body = cut == text.npos ? std::string_view() : text.substr(cut + 1);
  const std::array<std::string, 2> secrets = {"first", "second"};
  const std::string good = rules::SignatureOf(body, secrets[1]);
  const std::array<std::string_view, 1> given = {header};
  TENURE_CHECK(!rules::IsSigned(body, given, secrets), "a made up signature counts");
  const std::array<std::string_view, 1> right = {good};
  TENURE_CHECK(rules::IsSigned(body, right, secrets), "its own signature does not count");
}

void FuzzForm(std::string_view text) {
  if (const auto payload = rules::PayloadOfForm(text))
    TENURE_CHECK(rules::PayloadOfForm("payload=" + rules::EncodePart(*payload)) == payload,
                 "a form's payload does not survive being encoded");
  TENURE_CHECK(rules::PayloadOfForm("payload=" + rules::EncodePart(text)) == text,
               "an encoded text is lost");
}

void CheckPlaces(const rules::Routed& routed) {
  TENURE_CHECK(!routed.places.empty() && routed.places.size() <= 100, "no place, or too many");
  for (const rules::Place& place : routed.places) {
    TENURE_CHECK(!place.key.empty() && place.key.size() <= rules::kMaxKeyBytes,
                 "a key without bounds");
    for (const char c : place.key)
      TENURE_CHECK(c > ' ' && c < 0x7F, "a key with a character that is none of a key");
    TENURE_CHECK(!place.name.empty() && !place.type.empty(), "a session without a name");
  }
}

void FuzzRoute(std::string_view text) {
  const std::size_t cut = std::min(text.find('\n'), text.size());
  const std::string_view name = text.substr(0, cut);
  text.remove_prefix(std::min(cut + 1, text.size()));
  const auto payload = rules::Payload::Parse(text);
  if (!payload) return;
  const rules::Origin origin{.source = "github", .host = "github.com", .hook = "", .event = name};
  const rules::Event event(origin, *payload);
  rules::Routing routing;
  routing.events.push_back(*rules::EventPattern::Parse("*"));
  for (const rules::Scope scope :
       {rules::Scope::kEntity, rules::Scope::kRepository, rules::Scope::kCustom}) {
    routing.scope = scope;
    routing.session_key =
        std::get<rules::KeyTemplate>(rules::KeyTemplate::Parse("{a.b[0]}/{$action}:{c}"));
    for (const bool checks : {false, true}) {
      routing.checks_to_pull_requests = checks;
      CheckPlaces(rules::Route(routing, event));
    }
  }
  for (const rules::KindRow& row : rules::KindTable())
    if (const auto place = rules::PlaceOfKind(event, row.kind))
      TENURE_CHECK(!place->key.empty() && place->key.size() <= rules::kMaxKeyBytes,
                   "a kind without a key");
  (void)rules::Matches(routing, event);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = tenure::fuzz::AsText(data + 1, size - 1);
  switch (data[0]) {
    case 's':
      FuzzSignature(text);
      break;
    case 'f':
      FuzzForm(text);
      break;
    default:
      FuzzRoute(text);
  }
  return 0;
}
