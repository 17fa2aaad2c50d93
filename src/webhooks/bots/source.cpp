#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/rate.hpp"
#include "config/printable.hpp"
#include "webhooks/bots/reader.hpp"

namespace tenure::webhooks::bots {
namespace {

constexpr std::size_t kMaxHostBytes = 100;
constexpr std::size_t kMaxAddresses = 200;
constexpr std::array<std::string_view, 6> kSourceKeys = {"name",    "provider",   "host",
                                                         "secrets", "allow_from", "rate"};
constexpr std::array<std::string_view, 2> kSecretKeys = {"file", "env"};
constexpr std::array<std::string_view, 1> kProviders = {"github"};

void ReadHost(Reader& reader, const Reader::At& at, const YamlNode& node, Source& source) {
  auto text = reader.Text(at, node);
  if (!text) return;
  for (char& c : *text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool proper =
      text->size() <= kMaxHostBytes && std::all_of(text->begin(), text->end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':';
      });
  if (!proper)
    return reader.Wrong(at, node.line,
                        fmt::format("{} is not the name of a host", config::Quoted(*text)));
  source.host = *std::move(text);
}

void ReadSecret(Reader& reader, const Reader::At& at, const YamlNode& node, Source& source) {
  SecretPlace place;
  reader.Mapping(at, node, kSecretKeys, [&](const Reader::At& key, const YamlNode::Entry& entry) {
    auto text = reader.Text(key, entry.value);
    if (!text) return;
    if (!place.name.empty())
      return reader.Wrong(at, entry.line, "has both a file and an env: give each its own item");
    place = {entry.key == "file" ? SecretPlace::Kind::kFile : SecretPlace::Kind::kEnvironment,
             *std::move(text)};
  });
  if (!place.name.empty()) {
    if (reader.bounds.can_read && !reader.bounds.can_read(place))
      reader.Warn(at, node.line, fmt::format("{} cannot be read here", config::Quoted(place.name)));
    source.secrets.push_back(std::move(place));
  }
  if (node.shape == YamlNode::Shape::kMapping && node.entries.empty())
    reader.Wrong(at, node.line, "names neither a file nor an env");
}

void ReadOption(Reader& reader, const Reader::At& at, const YamlNode::Entry& entry,
                Source& source) {
  const YamlNode& node = entry.value;
  if (entry.key == "name") {
    if (auto name = reader.Name(at, node)) source.name = *std::move(name);
  } else if (entry.key == "provider") {
    reader.Word(at, node, kProviders);
  } else if (entry.key == "host") {
    ReadHost(reader, at, node, source);
  } else if (entry.key == "secrets") {
    reader.List(at, node, kMaxSecrets, [&](const Reader::At& item, const YamlNode& secret) {
      ReadSecret(reader, item, secret, source);
    });
  } else if (entry.key == "allow_from") {
    reader.List(at, node, kMaxAddresses, [&](const Reader::At& item, const YamlNode& block) {
      const auto text = reader.Text(item, block);
      const auto read = text ? base::IpBlock::Parse(*text) : std::nullopt;
      if (read)
        source.allow_from.push_back(*read);
      else if (text)
        reader.Wrong(item, block.line,
                     fmt::format("{} is not an address or a block of addresses, like 192.0.2.0/24",
                                 config::Quoted(*text)));
    });
  } else {
    const auto text = reader.Text(at, node);
    const auto rate = text ? base::ParseRate(*text) : std::nullopt;
    if (rate)
      source.rate = *rate;
    else if (text)
      reader.Wrong(at, node.line,
                   fmt::format("{} is not a rate, like 600/min", config::Quoted(*text)));
  }
}

}  // namespace

void ReadSource(Reader& reader, const Reader::At& at, const YamlNode& node) {
  Source source;
  Reader::At whole = at;
  // Its name first: what is wrong with the rest is told of it.
  for (const YamlNode::Entry& entry : node.entries)
    if (node.shape == YamlNode::Shape::kMapping && entry.key == "name")
      whole.where += " " + config::Printable(entry.value.scalar);
  const std::size_t wrong_before = reader.reading.mistakes.size();
  const bool read = reader.Mapping(
      whole, node, kSourceKeys,
      [&](const Reader::At& key, const auto& entry) { ReadOption(reader, key, entry, source); });
  if (!read) return;
  const auto has = [&](std::string_view key) {
    return std::any_of(node.entries.begin(), node.entries.end(),
                       [&](const YamlNode::Entry& entry) { return entry.key == key; });
  };
  if (!has("name")) reader.Wrong(whole, node.line, "name is missing");
  const bool secrets_wrong = has("secrets") && reader.reading.mistakes.size() > wrong_before;
  if (source.secrets.empty() && !secrets_wrong)
    reader.Wrong(whole, node.line, "secrets is missing: anybody could send");
  for (const Source& other : reader.reading.file.sources)
    if (other.name == source.name && !source.name.empty())
      reader.Wrong(whole, node.line, fmt::format("the name {} is given twice", source.name));
  reader.reading.file.sources.push_back(std::move(source));
}

}  // namespace tenure::webhooks::bots
