// webhooks::bots: a bots file, as YAML and as JSON, with the patterns and templates in it.
//
// What must hold: a file that is accepted, printed as JSON, is accepted again and is the same; what
// is wrong has words. A template that is accepted never gives two inputs one key.

#include "target.hpp"
#include "webhooks/bots/change.hpp"
#include "webhooks/bots/read.hpp"

namespace {

namespace bots = tenure::webhooks::bots;
namespace rules = tenure::webhooks::rules;

void CheckReading(const bots::Reading& reading) {
  for (const bots::Mistake& mistake : reading.mistakes)
    TENURE_CHECK(!bots::ToText(mistake, "bots.yaml").empty() && !mistake.message.empty(),
                 "a mistake without words");
  if (!reading.mistakes.empty()) return;
  const std::string json = bots::ToJson(reading.file);
  const bots::Reading again = bots::ReadJson(json);
  TENURE_CHECK(again.mistakes.empty(), "a file does not survive being printed");
  TENURE_CHECK(bots::ToJson(again.file) == json, "a file is another one when it is read again");
  TENURE_CHECK(bots::Compare(reading.file, again.file).empty(), "a file differs from itself");
}

void CheckTemplate(std::string_view text) {
  const auto made = rules::KeyTemplate::Parse(text);
  const auto* const key = std::get_if<rules::KeyTemplate>(&made);
  if (!key) return;
  // The same letters, cut at another place: of two values that stand side by side the first is
  // "aa" and the second "a", or the other way round.
  const auto render = [&](int first) {
    int place = 0;
    return key->Render([&](std::string_view) -> std::optional<std::string> {
      const int at = place++ - first;
      return at == 0 ? "aa" : "a";
    });
  };
  for (int first = 0; first < 4; ++first) {
    const auto one = render(first);
    const auto other = render(first + 1);
    TENURE_CHECK(one != other || one == render(100), "two inputs have one key");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::AsText(data, size);
  CheckReading(bots::ReadYaml(text));
  CheckReading(bots::ReadJson(text));
  CheckTemplate(text);
  return 0;
}
