#pragma once

#include "base/error.hpp"

namespace tenure::app {

/// The command line is wrong: exit code 2, and a pointer to the command's help.
class UsageError : public base::UserError {
 public:
  using base::UserError::UserError;
};

}  // namespace tenure::app
