#include "cli/contexts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/read_file.hpp"
#include "cli/flags.hpp"
#include "config/printable.hpp"
#include "config/yaml_tree.hpp"

namespace tenure::cli {
namespace {

using config::YamlNode;

constexpr std::size_t kMostBytes = 256 * 1024;
constexpr std::size_t kMostTokenBytes = 16 * 1024;

std::string FromEnvironment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Whoever may read the file must be its owner.
void CheckRights(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return;  // reading it will say why
  if (found.st_uid != geteuid())
    throw UsageError(fmt::format("{} belongs to another user: it is not read", path));
  if ((found.st_mode & 077U) != 0)
    throw UsageError(
        fmt::format("others can read {}: it is not used before `chmod 600 {}`", path, path));
}

class Reader {
 public:
  Reader(const std::string& path, config::Problems& problems) : path_(path), problems_(problems) {}

  /// The text of a field.
  std::string Text(const YamlNode::Entry& entry) {
    if (entry.value.shape == YamlNode::Shape::kScalar) return entry.value.scalar;
    Refuse(entry.line, fmt::format("{} takes a text", config::Quoted(entry.key)));
    return {};
  }

  Context ReadContext(const YamlNode::Entry& entry) {
    Context context{.name = entry.key};
    for (const YamlNode::Entry& field : entry.value.entries) {
      if (field.key == "server")
        context.server = Text(field);
      else if (field.key == "ca_file")
        context.ca_file = Text(field);
      else if (field.key == "token_file")
        context.token_file = Text(field);
      else if (field.key == "token_command")
        context.token_command = Text(field);
      else if (field.key == "protected")
        context.is_protected = IsTrue(field);
      else
        Refuse(field.line, fmt::format("{} is no field of a context: server, ca_file, token_file, "
                                       "token_command, protected",
                                       config::Quoted(field.key)));
    }
    if (context.server.empty())
      Refuse(entry.line, fmt::format("{} has no server", config::Quoted(entry.key)));
    return context;
  }

  void Refuse(int line, std::string message) {
    problems_.push_back({fmt::format("{}:{}", path_, line), std::move(message), line});
  }

 private:
  /// What is misspelt must not leave a context without its protection.
  bool IsTrue(const YamlNode::Entry& field) {
    const std::string text = Text(field);
    if (text != "true" && text != "false") Refuse(field.line, "\"protected\" takes true or false");
    return text != "false";
  }

  const std::string& path_;
  config::Problems& problems_;
};

void WriteField(std::string& yaml, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  std::string quoted;
  base::JsonWriter(quoted).Value(std::string_view(value));  // JSON's texts are YAML's
  yaml += fmt::format("    {}: {}\n", name, quoted);
}

}  // namespace

std::string Contexts::Path() {
  if (const std::string folder = FromEnvironment("XDG_CONFIG_HOME"); folder.starts_with('/'))
    return folder + "/tenure/contexts.yaml";
  const std::string home = FromEnvironment("HOME");
  return home.empty() ? "" : home + "/.config/tenure/contexts.yaml";
}

Contexts Contexts::Read() {
  Contexts contexts;
  const std::string path = Path();
  if (path.empty() || access(path.c_str(), F_OK) != 0) return contexts;
  CheckRights(path);
  config::Problems problems;
  YamlNode root;
  try {
    root = config::ParseYaml(base::ReadWholeFile(path, kMostBytes), path, problems);
  } catch (const base::UserError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
  Reader reader(path, problems);
  for (const YamlNode::Entry& entry : root.entries) {
    if (entry.key == "current")
      contexts.current_ = reader.Text(entry);
    else if (entry.key == "contexts")
      for (const YamlNode::Entry& each : entry.value.entries)
        contexts.all_.push_back(reader.ReadContext(each));
    else
      reader.Refuse(entry.line,
                    fmt::format("{} is no field: current, contexts", config::Quoted(entry.key)));
  }
  if (problems.empty()) return contexts;
  std::string text = "the file of contexts is wrong:";
  for (const config::Problem& problem : problems)
    text += fmt::format("\n{}: {}", problem.where, problem.message);
  throw UsageError(text);
}

void Contexts::Write() const {
  std::string yaml =
      "# Written by `tenure context`. It holds no tokens, only where they come from.\n";
  if (!current_.empty()) yaml += fmt::format("current: {}\n", current_);
  if (!all_.empty()) yaml += "contexts:\n";
  for (const Context& context : all_) {
    yaml += fmt::format("  {}:\n", context.name);
    WriteField(yaml, "server", context.server);
    WriteField(yaml, "ca_file", context.ca_file);
    WriteField(yaml, "token_file", context.token_file);
    WriteField(yaml, "token_command", context.token_command);
    if (context.is_protected) yaml += "    protected: true\n";
  }
  const std::string path = Path();
  if (path.empty())
    throw base::UserError("neither XDG_CONFIG_HOME nor HOME says where contexts are kept");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const std::string fresh = path + ".new";
  const mode_t mask = umask(077);
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << yaml;
    file.flush();
    if (!file) failed = std::make_error_code(std::errc::io_error);
  }
  umask(mask);
  if (!failed) std::filesystem::rename(fresh, path, failed);
  if (failed) throw base::UserError(fmt::format("{} cannot be written", path));
}

const Context* Contexts::Find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Context::name);
  return found == all_.end() ? nullptr : &*found;
}

const Context& Contexts::Get(std::string_view name) const {
  if (const Context* const found = Find(name)) return *found;
  std::vector<std::string> names;
  for (const Context& context : all_) names.push_back(context.name);
  const auto near = config::Nearest(name, names);
  throw UsageError(fmt::format("there is no context {}{}; `tenure context list` shows all",
                               config::Quoted(name),
                               near ? fmt::format(": did you mean {}?", *near) : ""));
}

void Contexts::Add(Context context) {
  if (all_.empty()) current_ = context.name;
  all_.push_back(std::move(context));
}

void Contexts::Remove(std::string_view name) {
  std::erase_if(all_, [name](const Context& each) { return each.name == name; });
  if (current_ == name) current_.clear();
}

std::string TokenOfCommand(const Context& context) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(context.token_command.c_str(), "r"), pclose);
  const auto fail = [&](std::string_view why) {
    return UsageError(fmt::format("token_command of the context {} {}: {}", context.name, why,
                                  config::Printable(context.token_command)));
  };
  if (!pipe) throw fail("cannot be run");
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() <= kMostTokenBytes) {
    const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe.get());
    if (size == 0) break;
    text.append(piece.data(), size);
  }
  if (pclose(pipe.release()) != 0) throw fail("failed");
  if (text.find_first_not_of("\r\n") == std::string::npos) throw fail("printed nothing");
  try {
    return CheckedToken(std::move(text));
  } catch (const base::UserError&) {
    throw fail("did not print one line with a token");
  }
}

std::string CheckedToken(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  constexpr std::string_view kScheme = "Bearer ";
  if (text.starts_with(kScheme)) text.erase(0, kScheme.size());
  const bool visible =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (text.empty() || !visible || text.size() > kMostTokenBytes)
    throw base::UserError("is not one line with a token");
  return text;
}

}  // namespace tenure::cli
