#pragma once

#include <string_view>

namespace tenure::app {

/// The repository's openapi.json, embedded at build.
std::string_view OpenApiDocument();

}  // namespace tenure::app
