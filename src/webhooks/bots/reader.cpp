#include "webhooks/bots/reader.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "config/printable.hpp"

namespace tenure::webhooks::bots {
namespace {

/// A file that is none at all must not flood the terminal.
constexpr std::size_t kMostMistakes = 200;

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string JoinPath(std::string_view path, std::string_view name) {
  if (path.empty() || name.empty()) return std::string(path.empty() ? name : path);
  return fmt::format("{}.{}", path, name);
}

void Add(std::vector<Mistake>& to, Mistake mistake) {
  // What stands in `defaults` is read for every bot.
  const bool known = std::find(to.begin(), to.end(), mistake) != to.end();
  if (!known && to.size() < kMostMistakes) to.push_back(std::move(mistake));
}

}  // namespace

std::string Reader::At::field() const { return JoinPath(path, key); }

Reader::At Reader::At::Below(std::string_view name) const {
  return {where, path, JoinPath(key, name)};
}

Reader::At Reader::At::Item(std::size_t index) const {
  return {where, path, fmt::format("{}[{}]", key, index)};
}

void Reader::Wrong(const At& at, int line, std::string message) {
  Add(reading.mistakes,
      {line, at.where, at.field(), at.key.empty() ? std::move(message) : at.key + " " + message});
}

void Reader::Warn(const At& at, int line, std::string message) {
  Add(reading.warnings,
      {line, at.where, at.field(), at.key.empty() ? std::move(message) : at.key + " " + message});
}

std::optional<std::string> Reader::Scalar(const At& at, const YamlNode& node,
                                          std::string_view wanted) {
  if (node.shape == YamlNode::Shape::kScalar) return node.scalar;
  if (node.shape != YamlNode::Shape::kRefused)
    Wrong(at, node.line, fmt::format("is not {}", wanted));
  return std::nullopt;
}

std::optional<std::string> Reader::Text(const At& at, const YamlNode& node) {
  auto text = Scalar(at, node, "a text");
  if (!text) return std::nullopt;
  if (!text->empty() && !base::HasControls(*text)) return text;
  Wrong(at, node.line, text->empty() ? "is empty" : "has control characters");
  return std::nullopt;
}

std::optional<std::int64_t> Reader::Integer(const At& at, const YamlNode& node, std::int64_t least,
                                            std::int64_t most) {
  const std::string wanted = fmt::format("a whole number from {} to {}", least, most);
  const auto text = Scalar(at, node, wanted);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  if (read.ec == std::errc() && read.ptr == text->data() + text->size() && value >= least &&
      value <= most)
    return value;
  Wrong(at, node.line, fmt::format("{} is not {}", config::Quoted(*text), wanted));
  return std::nullopt;
}

std::optional<std::int64_t> Reader::DurationMs(const At& at, const YamlNode& node,
                                               std::int64_t least_ms, std::int64_t most_ms) {
  const std::string wanted = fmt::format("a duration from {} to {}, like 5m or PT5M",
                                         base::DurationText(least_ms), base::DurationText(most_ms));
  const auto text = Scalar(at, node, wanted);
  if (!text) return std::nullopt;
  const auto ms = base::ParseDurationMs(*text);
  if (ms && *ms >= least_ms && *ms <= most_ms) return ms;
  Wrong(at, node.line, fmt::format("{} is not {}", config::Quoted(*text), wanted));
  return std::nullopt;
}

std::optional<bool> Reader::Flag(const At& at, const YamlNode& node) {
  const auto text = Scalar(at, node, "true or false");
  if (!text) return std::nullopt;
  if (*text == "true" || *text == "false") return *text == "true";
  Wrong(at, node.line, fmt::format("{} is not true or false", config::Quoted(*text)));
  return std::nullopt;
}

std::optional<std::size_t> Reader::Word(const At& at, const YamlNode& node,
                                        std::span<const std::string_view> words) {
  const auto text = Scalar(at, node, OneOfText(words));
  if (!text) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  Wrong(at, node.line,
        fmt::format("{} is not {}{}", config::Quoted(*text), OneOfText(words),
                    GuessText(*text, words)));
  return std::nullopt;
}

bool Reader::List(const At& at, const YamlNode& node, std::size_t most,
                  const std::function<void(const At&, const YamlNode&)>& read) {
  if (node.shape != YamlNode::Shape::kList) {
    if (node.shape != YamlNode::Shape::kRefused) Wrong(at, node.line, "is not a list");
    return false;
  }
  if (node.entries.size() > most) {
    Wrong(at, node.line,
          fmt::format("has {} items; at most {} are allowed", node.entries.size(), most));
    return false;
  }
  for (std::size_t i = 0; i < node.entries.size(); ++i) read(at.Item(i), node.entries[i].value);
  return true;
}

bool Reader::Mapping(const At& at, const YamlNode& node, std::span<const std::string_view> keys,
                     const std::function<void(const At&, const YamlNode::Entry&)>& read) {
  if (node.shape != YamlNode::Shape::kMapping) {
    if (node.shape != YamlNode::Shape::kRefused)
      Wrong(at, node.line, fmt::format("is not a mapping with {}", OneOfText(keys)));
    return false;
  }
  for (const YamlNode::Entry& entry : node.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end())
      Wrong(at, entry.line,
            fmt::format("{} is not an option here{}", config::Quoted(entry.key),
                        GuessText(entry.key, keys)));
    else
      read(at.Below(entry.key), entry);
  }
  return true;
}

std::optional<std::string> Reader::Name(const At& at, const YamlNode& node) {
  auto text = Text(at, node);
  if (!text) return std::nullopt;
  const bool proper = text->size() <= kMaxNameBytes && IsNameStart(text->front()) &&
                      std::all_of(text->begin(), text->end(), [](char c) {
                        return IsNameStart(c) || c == '.' || c == '_' || c == '-';
                      });
  if (proper) return text;
  Wrong(at, node.line,
        fmt::format("{} is not a name: at most {} of a-z, 0-9, \".\", \"_\" and \"-\", with a "
                    "letter or digit first",
                    config::Quoted(*text), kMaxNameBytes));
  return std::nullopt;
}

std::string OneOfText(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string GuessText(std::string_view word, std::span<const std::string_view> words) {
  const std::vector<std::string> candidates(words.begin(), words.end());
  const auto near = config::Nearest(word, candidates);
  return near ? fmt::format(" ({}?)", *near) : std::string();
}

std::string ToText(const Mistake& mistake, std::string_view file) {
  std::string text =
      file.empty() || mistake.line == 0 ? mistake.field : fmt::format("{}:{}", file, mistake.line);
  if (!mistake.where.empty() && mistake.line > 0) text += ": " + mistake.where;
  return text + ": " + mistake.message;
}

}  // namespace tenure::webhooks::bots
