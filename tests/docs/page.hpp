#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenure::docs {

/// One `$ command` of a page and the output that the page promises.
struct Command {
  int line = 0;  ///< of the page, counted from 1
  std::string text = {};
  std::vector<std::string> expected = {};
};

struct Page {
  std::vector<Command> commands = {};    ///< of all runnable blocks, in order
  std::vector<std::string> errors = {};  ///< "12: what is wrong with the page in that line"
};

/// Finds the examples of a Markdown page: fenced blocks that begin with ```console.
///
///   ```console
///   $ tenure session start alice
///   started <uuid>
///   $ cat <<END
///   > a line
///   > END
///   a line
///   ```
///
/// A command goes on in the next line after a backslash, and in lines that start with "> ". What
/// follows up to the next `$ ` is its output. A block that begins with "```console no-run REASON"
/// is not run; without a reason that is an error, and so is a block whose fence never ends.
Page ParsePage(std::string_view markdown);

}  // namespace tenure::docs
