#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::webhooks::rules {

/// Whether `*` (any run of characters, also none) and the other characters of `pattern` (themselves)
/// fit all of `text`. The time is at most the product of the lengths.
bool FitsGlob(std::string_view pattern, std::string_view text);

/// `[!]NAME[.ACTION]`, where `*` stands for any run within its part. `NAME` and `NAME.*` fit every
/// action and none.
struct EventPattern {
  bool excludes = false;
  std::string name;
  std::string action = "*";
  std::string text;  ///< as it was written

  static std::optional<EventPattern> Parse(std::string_view text);
  bool Fits(std::string_view event, std::string_view action_of_event) const;
};

/// `[!]OWNER/NAME`, in any letter case.
struct RepositoryPattern {
  bool excludes = false;
  std::string owner;  ///< in lower case
  std::string name;   ///< in lower case
  std::string text;

  static std::optional<RepositoryPattern> Parse(std::string_view text);
  /// `repository` is "owner/name". One without a slash is an organisation, which only a pattern of
  /// all its repositories fits.
  bool Fits(std::string_view repository) const;
};

/// What a list of patterns says of one text: it passes when a pattern without `!` fits, or there is
/// none without, and no pattern with `!` fits, in whatever order they stand.
struct Verdict {
  bool passes = false;
  /// The pattern that decided; null when it was that none fits.
  const std::string* by = nullptr;
};

Verdict Judge(const std::vector<EventPattern>& patterns, std::string_view event,
              std::string_view action);
/// `repository` empty: there is neither a repository nor an organisation.
Verdict Judge(const std::vector<RepositoryPattern>& patterns, std::string_view repository);

}  // namespace tenure::webhooks::rules
