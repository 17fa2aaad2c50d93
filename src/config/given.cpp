#include "config/given.hpp"

#include <utility>

namespace tenure::config {
namespace {

std::string Lines(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.where + ": " + problem.message;
  }
  return text;
}

}  // namespace

SettingsError::SettingsError(Problems problems)
    : base::UserError(Lines(problems)), problems_(std::move(problems)) {}

}  // namespace tenure::config
