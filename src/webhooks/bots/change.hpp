#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "webhooks/bots/file.hpp"

namespace tenure::webhooks::bots {

/// What applying a new file does to one bot or source.
struct Change {
  enum class What : std::uint8_t {
    kBotAdded,       ///< its queue gets what commits from then on
    kBotRemoved,     ///< its queue drains: nothing new, what waits is handed out
    kNewGeneration,  ///< other keys: handed out when nothing of an older one waits
    kLimits,         ///< from the next decision on
    kIntake,         ///< which events it gets, from the next one on
    kSourceAdded,
    kSourceRemoved,
    kSourceChanged,
  };

  What what = What::kLimits;
  std::string name;    ///< of the bot or source
  std::string detail;  ///< a sentence for people, of what happens

  friend bool operator==(const Change&, const Change&) = default;
};
std::string_view ToText(Change::What what);

/// What happens when `new_file` takes the place of `old_file`: sources first, then bots, each in
/// the order of the new file, those that are gone at the end. One bot may have several changes.
/// Nothing: the files mean the same.
std::vector<Change> Compare(const File& old_file, const File& new_file);

}  // namespace tenure::webhooks::bots
