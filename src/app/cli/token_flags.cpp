#include "app/cli/token_flags.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/read_file.hpp"
#include "config/environment.hpp"

namespace tenure::app {
namespace {

constexpr std::size_t kMaxTokenBytes = 16 * 1024;

}  // namespace

std::string ReadTokenFile(const std::string& path) {
  try {
    std::string token = base::ReadWholeFile(path, kMaxTokenBytes);
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    const bool visible =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (token.empty() || !visible) throw base::UserError("is not one line with a token");
    return token;
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", path, error.what()));
  }
}

std::string ChooseToken(const std::optional<std::string>& file) {
  if (file) return ReadTokenFile(*file);
  return config::FindVariable(config::CurrentEnvironment(), "TENURE_TOKEN").value_or("");
}

}  // namespace tenure::app
