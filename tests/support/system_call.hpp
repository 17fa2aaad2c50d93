#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace tenure::support {

/// A failed system call ends the test with its reason: GoogleTest reports exceptions as failures.
[[noreturn]] inline void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The result of a system call that says -1 when it fails.
template <class Result>
Result Checked(Result result, const std::string& what) {
  if (result < 0) ThrowErrno(what);
  return result;
}

}  // namespace tenure::support
