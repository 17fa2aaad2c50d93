#include "webhooks/rules/payload.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/json_text.hpp"

namespace tenure::webhooks::rules {
namespace {

constexpr std::size_t kMaxPathBytes = 200;
constexpr std::size_t kMaxIndexDigits = 4;
/// With room for what is around it.
constexpr std::size_t kHandedOutDepth = base::kMaxStoredJsonDepth - 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsNameCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_' || c == '-';
}

/// One step of a path: a name, or a place in a list.
struct PathStep {
  std::string_view name;  // empty: `index` counts
  std::size_t index = 0;
};

/// Takes the first step off a path. Nothing when it does not begin with one.
std::optional<PathStep> TakeStep(std::string_view& path, bool first) {
  PathStep step;
  if (path.starts_with('[')) {
    const std::size_t end = path.find(']');
    if (first || end == std::string_view::npos || end == 1 || end - 1 > kMaxIndexDigits)
      return std::nullopt;
    const auto read = std::from_chars(path.data() + 1, path.data() + end, step.index);
    if (read.ptr != path.data() + end || !IsDigit(path[1])) return std::nullopt;
    path.remove_prefix(end + 1);
    return step;
  }
  if (!first) {
    if (!path.starts_with('.')) return std::nullopt;
    path.remove_prefix(1);
  }
  const auto end = std::find_if_not(path.begin(), path.end(), IsNameCharacter);
  step.name = path.substr(0, static_cast<std::size_t>(end - path.begin()));
  if (step.name.empty()) return std::nullopt;
  path.remove_prefix(step.name.size());
  return step;
}

}  // namespace

bool IsPath(std::string_view path) {
  if (path.size() > kMaxPathBytes || path.empty()) return false;
  for (bool first = true; !path.empty(); first = false)
    if (!TakeStep(path, first)) return false;
  return true;
}

Payload::Payload(base::JsonView root, bool deep)
    : root_(root), deep_(deep), members_(root.Members()) {}

std::optional<Payload> Payload::Parse(std::string_view json) {
  const bool deep = !base::IsJson(json, kHandedOutDepth);
  const auto root = deep ? base::JsonView::Parse(json) : base::JsonView::Trusted(json);
  if (!root || root->kind() != base::JsonView::Kind::kObject) return std::nullopt;
  return Payload(*root, deep);
}

std::optional<base::JsonView> Payload::Find(std::string_view path) const {
  const auto top = TakeStep(path, true);
  if (!top) return std::nullopt;
  const auto member = std::find_if(members_.rbegin(), members_.rend(),  // the last one counts
                                   [&](const auto& each) { return each.first == top->name; });
  if (member == members_.rend()) return std::nullopt;
  std::optional<base::JsonView> value = member->second;
  while (value && !path.empty()) {
    const auto step = TakeStep(path, false);
    if (!step) return std::nullopt;
    if (!step->name.empty()) {
      value = value->Find(step->name);
      continue;
    }
    if (value->kind() != base::JsonView::Kind::kArray) return std::nullopt;
    const auto elements = value->Values();
    if (step->index >= elements.size()) return std::nullopt;
    value = elements[step->index];
  }
  return value;
}

std::optional<std::string> Payload::Id(std::string_view path) const {
  const auto value = Find(path);
  return value ? IdOf(*value) : std::nullopt;
}

std::optional<std::string> Payload::Text(std::string_view path) const {
  const auto value = Find(path);
  auto text = value ? value->Text() : std::nullopt;
  if (text && text->empty()) return std::nullopt;
  return text;
}

std::optional<std::string> IdOf(const base::JsonView& value) {
  if (value.kind() != base::JsonView::Kind::kNumber) return std::nullopt;
  const std::string_view digits = value.text();
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !IsDigit(digits[0]))
    return std::nullopt;
  return std::string(digits);
}

}  // namespace tenure::webhooks::rules
