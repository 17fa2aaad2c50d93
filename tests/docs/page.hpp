#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::docs {

/// The lines of a text without their ends. A last line without an end counts, an empty one does
/// not.
std::vector<std::string> SplitLines(std::string_view text);

/// One `$ command` of a page and the output that the page promises.
struct Command {
  int line = 0;  ///< of the page, counted from 1
  std::string text = {};
  std::vector<std::string> expected = {};
};

/// A C++ program of a page.
struct Program {
  int line = 0;  ///< of its fence
  std::string text = {};
  std::vector<std::string> expected = {};  ///< what it prints
};

struct Page {
  std::vector<Command> commands = {};    ///< of all runnable blocks, in order
  std::vector<Program> programs = {};    ///< in order
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
///
/// A block ```cpp is a whole program, and the next block ```output what it prints; without one it
/// is an error. tests/package compiles and runs them.
Page ParsePage(std::string_view markdown);

/// Replaces what differs from run to run: ids by <uuid>, instants (RFC 3339 and the Date header) by
/// <time>, "12 ms" by <duration>, ports of this machine by <port>; carriage returns and spaces at
/// the end of the line go away.
std::string Normalised(std::string_view line);

/// Whether the output is what the page promises. Both are normalised. In the expectation a line
/// "..." stands for any number of lines, and "..." inside a line for any text.
bool Matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

/// Expectation and output one below the other, with a mark at the first line that does not match.
std::string Difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual);

/// README.md and docs/*.md of the source tree.
std::vector<std::filesystem::path> AllPages();

/// Whether the project's .gitignore names a file of its root; a folder ends with a slash.
bool IsIgnored(const std::string& name);

/// Runs the examples of a page as a reader would who types them one after another into one shell,
/// and compares what comes with what the page promises.
///
/// Each page has a server of its own with nothing in it and without any setting, as `./start` makes
/// it; a working folder of its own; `tenure` in PATH, or on a page that puts `$PWD/build` there
/// only as build/tenure; and TENURE_SERVER set. Everything else is what the page's commands make.
/// The address that pages name, 127.0.0.1:8080, is replaced by the real one; 8081 and 9090, on
/// which pages start more, by free ones. On a page whose examples name $DATABASE_URL the server's
/// store is that PostgreSQL database; on every other page it is the embedded one. $REDIS_URL is a
/// Redis that keeps every write, $REDIS_SOCKET its socket for redis-cli. $AZBLOB_URL and $COSMOS_URL
/// are containers in emulators of Azure, with $TENURE_AZURE_CONNECTION_STRING for the first and
/// $COSMOS_CONNECTION_STRING for the second.
///
/// Only the output counts. Where a page promises none, the exit code must be 0. What may wait for
/// ever is wrong, and so is a file that is left behind in the working folder, where readers have
/// their clone, and that .gitignore does not name.
///
/// Returns what is wrong, one text per finding that begins with "page:line:"; empty: all is well.
/// A page without runnable examples starts nothing.
std::vector<std::string> RunPage(const std::filesystem::path& page,
                                 const std::filesystem::path& tenure);

}  // namespace tenure::docs
