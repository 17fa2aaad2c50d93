#pragma once

#include <string>

#include "app/cli/answer.hpp"

namespace tenure::app {

/// A message as a block of lines, from the server's JSON.
std::string MessageText(const Answer& answer);

/// The paths of things, from what a person typed. Throw UsageError when it cannot be one.
std::string MessagePath(const std::string& id);
std::string TimerPath(const std::string& id);
std::string TopicPath(const std::string& topic);

}  // namespace tenure::app
