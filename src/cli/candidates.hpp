#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace tenure::cli {

/// What the word at the cursor may become.
struct Candidate {
  std::string text{};
  std::string what{};  ///< a phrase for shells that show one; may be empty
};

/// What a completion offers. The shell itself knows files, and a server knows names.
struct Candidates {
  std::vector<Candidate> words{};
  bool files = false;
  std::optional<Names> names{};
  Given server{};  ///< the flags in the words that say whom to ask
};

/// `words` are those behind the program's name, as far as the cursor; the last one is being written
/// and may be empty.
Candidates Complete(const Commands& commands, const std::vector<std::string>& words);

}  // namespace tenure::cli
