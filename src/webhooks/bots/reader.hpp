#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_tree.hpp"
#include "webhooks/bots/read.hpp"

namespace tenure::webhooks::bots {

using config::YamlNode;

/// What is being read and what was found wrong with it: for the readers of the parts of a file.
/// One thread.
class Reader {
 public:
  Reader(const Bounds& limits, Reading& into) : bounds(limits), reading(into) {}

  const Bounds& bounds;
  Reading& reading;

  /// Where a value stands.
  struct At {
    std::string where;  ///< "bots[1] deploy-coordinator"
    std::string path;   ///< "bots[1]"
    std::string key;    ///< "ordering_scope", "events[0]"

    std::string field() const;
    At Below(std::string_view name) const;
    At Item(std::size_t index) const;
  };

  /// `message` follows the key.
  void Wrong(const At& at, int line, std::string message);
  void Warn(const At& at, int line, std::string message);

  // Each reads one value; nothing when it is wrong, which is noted.

  std::optional<std::string> Text(const At& at, const YamlNode& node);
  std::optional<std::int64_t> Integer(const At& at, const YamlNode& node, std::int64_t least,
                                      std::int64_t most);
  std::optional<std::int64_t> DurationMs(const At& at, const YamlNode& node, std::int64_t least_ms,
                                         std::int64_t most_ms);
  std::optional<bool> Flag(const At& at, const YamlNode& node);
  /// The number of the word.
  std::optional<std::size_t> Word(const At& at, const YamlNode& node,
                                  std::span<const std::string_view> words);
  /// Calls `read` for each item of a list of at most `most`.
  bool List(const At& at, const YamlNode& node, std::size_t most,
            const std::function<void(const At&, const YamlNode&)>& read);
  /// Calls `read` for each entry of a mapping whose key is one of `keys`; others are wrong.
  bool Mapping(const At& at, const YamlNode& node, std::span<const std::string_view> keys,
               const std::function<void(const At&, const YamlNode::Entry&)>& read);

  /// A name of a bot, queue or source.
  std::optional<std::string> Name(const At& at, const YamlNode& node);

 private:
  std::optional<std::string> Scalar(const At& at, const YamlNode& node, std::string_view wanted);
};

/// "none, entity, repository or custom".
std::string OneOfText(std::span<const std::string_view> words);
/// ` (repository?)` when the word is near to one of them, else nothing.
std::string GuessText(std::string_view word, std::span<const std::string_view> words);

// The parts of a file.

void ReadSource(Reader& reader, const Reader::At& at, const YamlNode& node);

/// The entries of one bot, wherever they stand.
struct BotEntries {
  Reader::At at;
  int line = 1;
  std::vector<const YamlNode::Entry*> own;       ///< of its item in `bots`, or of bot_config
  std::vector<const YamlNode::Entry*> blocks;    ///< of session_limits, service_bus_queues
  std::vector<const YamlNode::Entry*> defaults;  ///< which count where they have a meaning
  bool all_events = false;                       ///< without `events` it gets all of them
};
void ReadBot(Reader& reader, const BotEntries& entries);
/// Whether the options themselves are in order, whoever they are for.
void CheckDefaults(Reader& reader, const Reader::At& at, const YamlNode& node);

/// What other systems' documents say of single bots.
struct Blocks {
  const YamlNode* session_limits = nullptr;
  const YamlNode* service_bus_queues = nullptr;
};
/// Adds their entries to those of the bots; `names` are those of `bots`.
void AddBlocks(Reader& reader, const Blocks& blocks, std::vector<BotEntries>& bots,
               std::span<const std::string> names);

}  // namespace tenure::webhooks::bots
