#include "config/file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "base/utf8.hpp"
#include "config/printable.hpp"
#include "config/yaml_json.hpp"
#include "config/yaml_tree.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kMaxFileBytes = 1024 * 1024;

/// The line of the first byte that no text of ours may hold, or empty.
std::optional<int> LineOfBadText(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    if (!base::IsStorableText(text.substr(0, end + 1))) return line;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

/// What the unknown `key` of `section` was meant to be: a name of the same section, or a setting of
/// another one that ends in it.
std::string Hint(std::string_view section, const std::string& key) {
  if (section.empty() && FindAddressed(key).setting && key.find('.') != std::string::npos)
    return fmt::format("; write it nested, as \"{}: {{{}: …}}\"", key.substr(0, key.find('.')),
                       key.substr(key.find('.') + 1));
  if (const auto near = Nearest(key, NamesBelow(section)))
    return fmt::format("; did you mean \"{}\"?", *near);
  const std::string ending = "." + key;
  for (const Setting& setting : Table())
    if (setting.name.ends_with(ending))
      return fmt::format("; did you mean the setting {}?", setting.name);
  return "";
}

/// "rate_limits: off" is a value. With settings below it, perhaps all commented out, it is their
/// section.
bool IsMeantAsSection(std::string_view name, const YamlNode& value) {
  return IsSection(name) &&
         (value.shape == YamlNode::Shape::kMapping || value.shape == YamlNode::Shape::kNothing);
}

/// Holds the tree of one file against the table.
class Walk {
 public:
  Walk(std::string_view file, Problems& problems, FileJobs& jobs)
      : file_(file), problems_(problems), jobs_(jobs) {}

  std::vector<Given> Root(YamlNode root) {
    if (root.shape == YamlNode::Shape::kMapping)
      Section("", std::move(root));
    else if (root.shape != YamlNode::Shape::kNothing)
      Note(root.line, "a configuration file holds names and values, like \"listen: 127.0.0.1:80\"");
    return std::move(given_);
  }

 private:
  void Section(std::string_view section, YamlNode node) {
    for (YamlNode::Entry& entry : node.entries) {
      if (problems_.size() >= kMostProblems) return;
      const std::string name =
          section.empty() ? entry.key : fmt::format("{}.{}", section, entry.key);
      // A dot inside of a key would reach a setting past its section.
      const bool dotted = entry.key.find('.') != std::string::npos;
      const bool is_list = entry.value.shape == YamlNode::Shape::kList;
      if ((name == "jobs" && is_list) || (name == "jobs.list" && !dotted))
        Jobs(entry);
      else if (!dotted && FindAddressed(name).setting && !IsMeantAsSection(name, entry.value))
        Value(name, std::move(entry));
      else if (!dotted && IsSection(name))
        SectionValue(name, std::move(entry));
      else
        Note(entry.line, fmt::format("{} is not a {}{}", Quoted(entry.key),
                                     section.empty() ? "setting or section"
                                                     : fmt::format("setting of {}", section),
                                     Hint(section, entry.key)));
    }
  }

  void Jobs(const YamlNode::Entry& list) {
    if (list.value.shape != YamlNode::Shape::kList && list.value.shape != YamlNode::Shape::kNothing)
      return Note(list.line, "jobs.list takes a list of jobs");
    jobs_.emplace();
    for (const YamlNode::Entry& each : list.value.entries) {
      if (each.value.shape != YamlNode::Shape::kMapping) {
        Note(each.line, "a job is written as names and values, such as \"name: nightly\"");
        continue;
      }
      FileJob job{.where = Where(each.line), .line = each.line, .json = JsonOf(each.value)};
      for (const YamlNode::Entry& field : each.value.entries) job.lines[field.key] = field.line;
      jobs_->push_back(std::move(job));
    }
  }

  void SectionValue(const std::string& name, YamlNode::Entry entry) {
    if (entry.value.shape == YamlNode::Shape::kMapping)
      Section(name, std::move(entry.value));
    else if (entry.value.shape == YamlNode::Shape::kScalar ||
             entry.value.shape == YamlNode::Shape::kList)  // nothing: all may be commented out
      Note(entry.value.line, fmt::format("{} is a section: its settings stand below it", name));
  }

  void Value(const std::string& name, YamlNode::Entry entry) {
    const Addressed to = FindAddressed(name);
    if (IsSecret(to.setting->kind) && !to.by_file)
      return Note(entry.line, fmt::format("the secret {0} does not stand in this file: name the "
                                          "file that holds it with {0}_file, or set {1}",
                                          name, EnvironmentName(name)));
    switch (entry.value.shape) {
      case YamlNode::Shape::kScalar:
        given_.push_back({to.setting,
                          to.by_file,
                          std::move(entry.value.scalar),
                          {Source::kFile, Where(entry.value.line), entry.value.line}});
        break;
      case YamlNode::Shape::kNothing:
        Note(entry.line, fmt::format("{} has no value", name));
        break;
      case YamlNode::Shape::kList:
        if (TakesHosts(to.setting->kind)) {
          List(to, entry, HostText, "a host, a pattern, or {host: …, private: true}");
          break;
        }
        if (TakesTexts(to.setting->kind)) {
          List(to, entry, OneText, "a text without commas");
          break;
        }
        [[fallthrough]];
      case YamlNode::Shape::kMapping:
        Note(entry.line, fmt::format("{} takes {}", name, Accepts(to.setting->kind)));
        break;
      case YamlNode::Shape::kRefused:
        break;
    }
  }

  /// A list as the text that it stands for.
  void List(const Addressed& to, const YamlNode::Entry& entry,
            std::optional<std::string> (*read)(const YamlNode&), std::string_view what) {
    std::string text;
    for (const YamlNode::Entry& element : entry.value.entries) {
      const auto one = read(element.value);
      if (!one)
        return Note(element.line, fmt::format("an element of {} is {}", to.setting->name, what));
      text += (text.empty() ? "" : ", ") + *one;
    }
    given_.push_back({to.setting,
                      to.by_file,
                      std::move(text),
                      {Source::kFile, Where(entry.value.line), entry.value.line}});
  }
  static std::optional<std::string> OneText(const YamlNode& node) {
    if (node.shape != YamlNode::Shape::kScalar || node.scalar.empty() ||
        node.scalar.find(',') != std::string::npos)
      return std::nullopt;
    return node.scalar;
  }
  static std::optional<std::string> HostText(const YamlNode& node) {
    // What has a comma or a space would be read as something else.
    const auto is_one = [](const std::string& text) {
      return text.find_first_of(", ") == std::string::npos;
    };
    if (node.shape == YamlNode::Shape::kScalar && is_one(node.scalar)) return node.scalar;
    if (node.shape != YamlNode::Shape::kMapping) return std::nullopt;
    std::string host;
    bool is_private = false;
    for (const YamlNode::Entry& entry : node.entries) {
      if (entry.value.shape != YamlNode::Shape::kScalar) return std::nullopt;
      if (entry.key == "host" && is_one(entry.value.scalar))
        host = entry.value.scalar;
      else if (entry.key == "private" &&
               (entry.value.scalar == "true" || entry.value.scalar == "false"))
        is_private = entry.value.scalar == "true";
      else
        return std::nullopt;
    }
    if (host.empty()) return std::nullopt;
    return is_private ? "private " + host : host;
  }

  std::string Where(int line) const { return fmt::format("{}:{}", file_, line); }
  void Note(int line, std::string message) {
    problems_.push_back({Where(line), std::move(message), line});
  }

  const std::string_view file_;
  Problems& problems_;
  FileJobs& jobs_;
  std::vector<Given> given_;
};

}  // namespace

std::vector<Given> FromYaml(std::string_view text, std::string_view file, Problems& problems,
                            FileJobs& jobs) {
  if (const std::optional<int> line = LineOfBadText(text)) {
    problems.push_back({fmt::format("{}:{}", file, *line), "this is not UTF-8 text", *line});
    return {};
  }
  YamlNode root = ParseYaml(text, file, problems);
  return Walk(file, problems, jobs).Root(std::move(root));
}

std::vector<Given> FromFile(const std::string& path, Problems& problems, FileJobs& jobs) {
  try {
    return FromYaml(base::ReadWholeFile(path, kMaxFileBytes), path, problems, jobs);
  } catch (const base::UserError& error) {
    problems.push_back({path, error.what()});
    return {};
  }
}

}  // namespace tenure::config
