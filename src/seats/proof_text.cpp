// What `tenure seat prove` prints.

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "config/printable.hpp"
#include "seats/prove_command.hpp"

namespace tenure::seats {
namespace {

constexpr std::size_t kShownLines = 20;

std::string LabelledLine(std::string_view label, std::string_view text) {
  return fmt::format("{:<11}{}\n", label, text);
}

/// A line for each of the first few, and how many more there are.
template <class T, class Say>
std::string LinesOf(std::string_view label, const Proof::Some<T>& some, const Say& say) {
  std::string text;
  std::size_t shown = 0;
  for (const T& one : some.first) {
    if (shown == kShownLines) break;
    text += LabelledLine(shown++ == 0 ? label : "", say(one));
  }
  const std::int64_t more = some.count - static_cast<std::int64_t>(shown);
  if (more > 0) text += LabelledLine("", fmt::format("and {} more", more));
  return text;
}

std::string SayOver(const Proof::OverLimit& over) {
  return fmt::format("{} held of {} from {} to {}, after entry {} lowered the limit", over.most,
                     over.limit, base::UtcText(over.from_ms),
                     over.until_ms == 0 ? "the end of the log" : base::UtcText(over.until_ms),
                     over.from_seq);
}

std::string SayByPlace(const Proof::ByPlace& stretch) {
  return fmt::format("entries {} to {}, {} to {}: the clock had been set back", stretch.from_seq,
                     stretch.to_seq, base::UtcText(stretch.from_ms), base::UtcText(stretch.to_ms));
}

std::string SayMark(const Proof::Mark& mark) {
  return fmt::format("entry {}, {}", mark.seq, base::UtcText(mark.at_ms));
}

std::string SayHighest(const Proof& proof) {
  if (proof.highest == 0) return "0";
  return fmt::format("{} at once, {} ({})", proof.highest, base::UtcText(proof.highest_at_ms),
                     proof.highest_seq == 0 ? "before the first entry"
                                            : fmt::format("entry {}", proof.highest_seq));
}

template <class T, class Write>
void WriteSome(base::JsonWriter& json, std::string_view name, const Proof::Some<T>& some,
               const Write& write) {
  json.Field(fmt::format("{}_count", name), some.count).Key(name).BeginArray();
  for (const T& one : some.first) {
    json.BeginObject();
    write(one);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string ProofText(const Proof& proof) {
  std::string text = LabelledLine("license", proof.license.ToString());
  text += LabelledLine(
      "entries", proof.entries == 0
                     ? "0"
                     : fmt::format("{}, {} to {}", proof.entries, proof.first_seq, proof.head.seq));
  text += LabelledLine("head", HexOf(proof.head.hash));
  text += LabelledLine("limit", std::to_string(proof.limit));
  text += LabelledLine("held", std::to_string(proof.held));
  text += LabelledLine("highest", SayHighest(proof));
  text += LinesOf("over", proof.over_limit, SayOver);
  text += LinesOf("by force", proof.forced, SayMark);
  text += LinesOf("restored", proof.restores, SayMark);
  text += LinesOf("by place", proof.by_place, SayByPlace);
  if (proof.proven()) return text + LabelledLine("proven", "yes");
  text += LabelledLine("proven", fmt::format("NO, {} finding(s)", proof.findings.count));
  return text + LinesOf("found", proof.findings, [](const Finding& finding) {
           return config::Printable(fmt::format("entry {}: {}", finding.seq, finding.text));
         });
}

std::string ProofJson(const Proof& proof) {
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject()
      .Field("license_id", proof.license)
      .Field("proven", proof.proven())
      .Field("first_entry", proof.first_seq)
      .Field("entries", proof.head.seq)
      .Field("head", std::string_view(HexOf(proof.head.hash)))
      .Field("seats", proof.limit)
      .Field("held", proof.held)
      .Field("highest", proof.highest);
  json.Key("highest_at").TimeOrNull(proof.highest_at_ms);
  json.Field("highest_entry", proof.highest_seq);
  WriteSome(json, "over_limit", proof.over_limit, [&](const Proof::OverLimit& over) {
    json.Field("entry", over.from_seq).Field("seats", over.limit).Field("held", over.most);
    json.Key("from").Time(over.from_ms).Key("until").TimeOrNull(over.until_ms);
  });
  const auto mark = [&](const Proof::Mark& one) {
    json.Field("entry", one.seq).Key("at").Time(one.at_ms);
  };
  WriteSome(json, "forced", proof.forced, mark);
  WriteSome(json, "restores", proof.restores, mark);
  WriteSome(json, "by_place", proof.by_place, [&](const Proof::ByPlace& stretch) {
    json.Field("first_entry", stretch.from_seq).Field("last_entry", stretch.to_seq);
  });
  WriteSome(json, "findings", proof.findings, [&](const Finding& finding) {
    json.Field("entry", finding.seq)
        .Field("text", std::string_view(config::Printable(finding.text)));
  });
  json.EndObject();
  return text + "\n";
}

}  // namespace tenure::seats
