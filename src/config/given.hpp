#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/table.hpp"

namespace tenure::config {

enum class Source { kDefault, kFile, kEnvironment, kFlag };

/// Where a value came from, for people.
struct Origin {
  Source source = Source::kDefault;
  std::string where = "default";  ///< "tenure.yaml:12", "TENURE_LOG_LEVEL", "--listen"
  int line = 0;                   ///< of the file; 0 elsewhere
};

/// A value that somebody gave to a setting that exists; whether the setting accepts it is not known
/// yet.
struct Given {
  const Setting* setting = nullptr;
  bool by_file = false;  ///< `value` is the path of the file that holds the secret
  std::string value;
  Origin origin;
};

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
