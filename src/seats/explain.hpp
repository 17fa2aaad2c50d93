#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/explanation.hpp"
#include "seats/reads.hpp"

namespace tenure::seats {

/// Who holds a seat, or how it was lost.
explain::Explanation Explain(const Holding& holding);

/// What is known of a licence, for people.
struct LicenseStory {
  LicenseView view{};
  std::optional<Holding> next_to_lapse{};
  std::int64_t denied = 0;  ///< requests in the last hour, as far as they are written
  /// How often a machine took its seat from a live process of the same id, in the last hour.
  std::map<std::string, std::int64_t> taken_over{};

  void Note(const std::vector<ListedHolding>& active);
  void NoteDenials(const std::vector<LogEntry>& entries);
  void NoteResumes(const std::vector<LogEntry>& entries);
};
/// Who uses a licence, who waits, and what stands in the way.
explain::Explanation Explain(const LicenseStory& story);

}  // namespace tenure::seats
