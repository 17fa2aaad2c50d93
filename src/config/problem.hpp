#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace tenure::config {

/// One thing that is wrong with the configuration.
struct Problem {
  std::string where;    ///< "tenure.yaml:12", "TENURE_LOG_LEVEL", "--listen"
  std::string message;  ///< what is wrong and, if it can be guessed, what was meant
  int line = 0;         ///< of the file; 0 elsewhere
};

using Problems = std::vector<Problem>;

/// Reading a file stops here: one that is no configuration at all must not flood the terminal.
inline constexpr std::size_t kMostProblems = 50;

/// The configuration was refused. Its text has one line per problem, all of them: somebody who
/// edits a file wants to correct it once.
class SettingsError : public base::UserError {
 public:
  explicit SettingsError(Problems problems);

  const Problems& problems() const { return problems_; }

 private:
  Problems problems_;
};

}  // namespace tenure::config
