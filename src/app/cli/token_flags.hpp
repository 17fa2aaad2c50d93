#pragma once

#include <optional>
#include <string>

namespace tenure::app {

/// The token in a file, without the line break at its end. Throws base::UserError when it cannot be
/// read, or is not one line of text.
std::string ReadTokenFile(const std::string& path);

/// The token to use: that of `file`, else TENURE_TOKEN; empty when there is neither. A token never
/// stands on the command line, where every user of the machine can see it.
std::string ChooseToken(const std::optional<std::string>& file);

}  // namespace tenure::app
