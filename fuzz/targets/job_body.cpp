// jobs::ReadPut, ReadTrigger, ReadBackfill, ReadPause and PreviewJson: what a stranger says of jobs.
//
// What must hold:
//  1. What is let through is within its bounds, can be stored, and names its times.
//  2. A refusal is 400 or 422 and an answer that can be read, with the field.

#include "base/utf8.hpp"
#include "jobs/fields.hpp"
#include "jobs/requests.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

constexpr std::size_t kPayloadMax = 4'096;
constexpr std::int64_t kNowMs = 1'774'000'000'000;  // some days before a change of the clock

const jobs::calendar::Zones& JobZones() {
  static const jobs::calendar::Zones zones;
  return zones;
}

/// Runs `read` on the body; a refusal is looked at.
template <class Read>
void Feed(std::string_view json, const Read& read) {
  const PaddedBody body(json);
  try {
    read(body.view());
  } catch (const http::ProblemError& error) {
    if (error.problem().status == 400) return CheckRefusal(error);
    TENURE_CHECK(error.problem().status == 422, "a refusal of another status");
    const http::Response response = http::ToResponse(error.problem(), "");
    TENURE_CHECK(base::IsStorableText(response.body), "a refusal cannot be printed");
    TENURE_CHECK(response.body.find("\"field\":") != std::string::npos, "a refusal names no field");
  }
}

void CheckDefinition(const jobs::Definition& definition) {
  TENURE_CHECK(!definition.topic.empty() && definition.topic.size() <= messages::kMaxTopicBytes,
               "a topic beyond its bounds");
  TENURE_CHECK(definition.cron.empty() == (definition.every_ms > 0), "both, or neither");
  TENURE_CHECK(definition.every_ms >= 0 && definition.every_ms <= jobs::kMaxEveryMs,
               "a distance beyond its bounds");
  TENURE_CHECK(definition.payload.size() <= kPayloadMax, "a payload beyond its bound");
  TENURE_CHECK(definition.headers.size() <= jobs::kMaxJobHeadersBytes,
               "headers beyond their bound");
  TENURE_CHECK(definition.jitter_ms >= 0 && definition.jitter_ms <= jobs::kMaxJitterMs,
               "a jitter beyond its bounds");
  for (const std::string* text : {&definition.topic, &definition.cron, &definition.zone,
                                  &definition.payload, &definition.headers})
    TENURE_CHECK(base::IsStorableText(*text), "a text that cannot be stored is let through");
  const auto times = jobs::Times::Of(definition, kNowMs, JobZones());
  TENURE_CHECK(times.has_value(), "a schedule is let through that names no times");
  const auto first = times->First(kNowMs);
  TENURE_CHECK(!first || first->time_ms >= kNowMs, "a time before it was asked for");
  TENURE_CHECK(base::IsStorableText(jobs::DifferencesJson(jobs::Definition(), definition)),
               "a definition cannot be put on record");
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace jobs = tenure::jobs;
  using namespace tenure::fuzz;
  const std::string_view text = AsText(data, size);
  const jobs::JobKey key{"default", "nightly"};
  Feed(text, [](std::string_view body) {
    CheckDefinition(jobs::ReadPut(body, kPayloadMax, JobZones()));
  });
  Feed(text, [&](std::string_view body) {
    const auto trigger = jobs::ReadTrigger(key, body, kPayloadMax);
    TENURE_CHECK(!trigger.payload || trigger.payload->size() <= kPayloadMax, "a payload too large");
  });
  Feed(text, [&](std::string_view body) {
    const auto backfill = jobs::ReadBackfill(key, body);
    TENURE_CHECK(backfill.most >= 1 && backfill.most <= jobs::kMaxBackfill, "too many times");
  });
  Feed(text, [&](std::string_view body) {
    TENURE_CHECK(jobs::ReadPause(key, body).reason.size() <= jobs::kMaxReasonBytes,
                 "a long reason");
  });
  Feed(text, [](std::string_view body) {
    TENURE_CHECK(tenure::base::IsStorableText(jobs::PreviewJson(body, JobZones(), kNowMs)),
                 "a preview cannot be printed");
  });
  return 0;
}
