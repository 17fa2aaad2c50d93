#include "webhooks/rules/key_template.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "webhooks/rules/key_text.hpp"
#include "webhooks/rules/payload.hpp"

namespace tenure::webhooks::rules {
namespace {

constexpr std::array<std::string_view, 4> kTemplateWords = {"$event", "$action", "$entity",
                                                            "$repository"};

/// Whether it has a character that no value has (EncodePart), so that values on both of its sides
/// are told from one another.
bool Separates(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return c != '%' && EncodePart({&c, 1}).size() > 1;
  });
}

std::optional<std::string> PlaceholderProblem(std::string_view placeholder) {
  if (std::find(kTemplateWords.begin(), kTemplateWords.end(), placeholder) != kTemplateWords.end())
    return std::nullopt;
  if (placeholder.starts_with('$'))
    return fmt::format("{{{}}} is none of {{$event}}, {{$action}}, {{$entity}} and {{$repository}}",
                       base::Printable(placeholder));
  if (!IsPath(placeholder))
    return fmt::format("{{{}}} is no place in a payload, like {{deployment.environment}}",
                       base::Printable(placeholder));
  return std::nullopt;
}

}  // namespace

std::variant<KeyTemplate, std::string> KeyTemplate::Parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxKeyBytes)
    return fmt::format("is not 1 to {} bytes long", kMaxKeyBytes);
  if (base::HasControls(text)) return "has control characters, or is not UTF-8";
  KeyTemplate made;
  made.text_ = text;
  bool separated = true;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find_first_of("{}"), text.size());
    const std::string_view plain = text.substr(0, open);
    text.remove_prefix(open);
    if (!plain.empty()) made.parts_.push_back({false, std::string(plain)});
    separated = separated || Separates(plain);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    if (text.front() == '}' || close == std::string_view::npos)
      return "has a brace without its other one";
    const std::string_view placeholder = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (auto problem = PlaceholderProblem(placeholder)) return *std::move(problem);
    if (!separated)
      return fmt::format(
          "needs a character between {{{}}} and what stands before it that no value has, like /",
          placeholder);
    made.parts_.push_back({true, std::string(placeholder)});
    separated = false;
  }
  const bool fixed = std::none_of(made.parts_.begin(), made.parts_.end(),
                                  [](const Part& part) { return part.placeholder; });
  if (fixed) return "has no {place}: everything would be one session";
  return made;
}

std::optional<std::string> KeyTemplate::Render(const Lookup& lookup) const {
  std::string key;
  for (const Part& part : parts_) {
    if (!part.placeholder) {
      key += part.text;
      continue;
    }
    auto value = lookup(part.text);
    if (!value) return std::nullopt;
    key += *value;
  }
  return key;
}

}  // namespace tenure::webhooks::rules
