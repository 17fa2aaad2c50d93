#include "config/yaml_tree.hpp"

#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "config/printable.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kMaxDepth = 16;  // far beyond any setting, far below the stack's end

YamlNode Node(YamlNode::Shape shape, int line, std::string scalar = {}) {
  YamlNode node;
  node.shape = shape;
  node.line = line;
  node.scalar = std::move(scalar);
  return node;
}

/// Thrown out of the parser when going on makes no sense; the problem is noted already.
struct GiveUp {};

/// Builds the tree from the parser's events. yaml-cpp's own node graph is not used: it resolves
/// aliases into shared nodes, keeps both values of a repeated key and creates keys on look-up.
///
/// One object per document, used by one thread.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, Problems& problems) : file_(file), problems_(problems) {}

  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!std::exchange(started_, true)) return;
    Note(Line(mark), "a second YAML document starts here: a configuration file has one");
    throw GiveUp{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Add(Node(YamlNode::Shape::kNothing, Line(mark)));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    YamlNode node = Node(YamlNode::Shape::kScalar, Line(mark), value);
    node.quoted = tag == "!";  // so says yaml-cpp
    Add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Note(Line(mark), "aliases (*name) are not supported: write the value out, or in quotes");
    Add(Node(YamlNode::Shape::kRefused, Line(mark)));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(mark, YamlNode::Shape::kList);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(mark, YamlNode::Shape::kMapping);
  }
  void OnMapEnd() override { Close(); }

 private:
  /// A list or mapping that is not finished.
  struct Level {
    YamlNode node;
    bool expects_key = true;  ///< of a mapping: the next event is a key
    bool drop_value = false;  ///< its key was refused
    std::string key = {};
    int key_line = 1;
    std::unordered_map<std::string, int> lines_by_key = {};
  };

  static int Line(const YAML::Mark& mark) { return mark.line + 1; }

  void Note(int line, std::string message) {
    problems_.push_back({fmt::format("{}:{}", file_, line), std::move(message), line});
    if (problems_.size() >= kMostProblems) throw GiveUp{};
  }

  void Open(const YAML::Mark& mark, YamlNode::Shape shape) {
    if (levels_.size() >= kMaxDepth) {
      Note(Line(mark), fmt::format("nested more than {} levels deep", kMaxDepth));
      throw GiveUp{};
    }
    levels_.push_back(Level{.node = Node(shape, Line(mark))});
  }

  void Close() {
    YamlNode node = std::move(levels_.back().node);
    levels_.pop_back();
    Add(std::move(node));
  }

  void Add(YamlNode node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.shape == YamlNode::Shape::kList) {
      const int line = node.line;
      level.node.entries.push_back({{}, line, std::move(node)});
      return;
    }
    if (std::exchange(level.expects_key, !level.expects_key)) {
      AddKey(level, std::move(node));
    } else if (!level.drop_value) {
      level.node.entries.push_back({std::move(level.key), level.key_line, std::move(node)});
    }
  }

  void AddKey(Level& level, YamlNode node) {
    level.drop_value = true;
    if (node.shape == YamlNode::Shape::kRefused) return;
    if (node.shape != YamlNode::Shape::kScalar) return Note(node.line, "a key must be plain text");
    const auto [first, added] = level.lines_by_key.try_emplace(node.scalar, node.line);
    if (!added)
      return Note(node.line, fmt::format("{} is given twice, first on line {}", Quoted(node.scalar),
                                         first->second));
    level.drop_value = false;
    level.key = std::move(node.scalar);
    level.key_line = node.line;
  }

  const std::string_view file_;
  Problems& problems_;
  bool started_ = false;
  YamlNode root_;
  std::vector<Level> levels_;
};

}  // namespace

YamlNode ParseYaml(std::string_view text, std::string_view file, Problems& problems) {
  // yaml-cpp 0.7 misses the end of the file in a quote that was never closed when a line break
  // stands before it, and would take the rest of the file for one value.
  std::istringstream stream{std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1))};
  TreeBuilder builder(file, problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line + 1;
    problems.push_back(
        {fmt::format("{}:{}", file, line), fmt::format("this is not YAML: {}", error.msg), line});
  } catch (const GiveUp&) {
  }
  return builder.TakeRoot();
}

}  // namespace tenure::config
