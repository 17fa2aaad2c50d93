#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::app {

/// What a command accepts behind its words. A command declares into it; the parser fills the
/// targets, the help page prints the rest.
class Flags {
 public:
  enum class Need { kOptional, kRequired };

  /// A positional argument, "ID". They are all required, in the order of declaration.
  struct Argument {
    std::string_view name;
    std::string_view does;
    std::string* target;
  };
  /// "--user UUID".
  struct Value {
    std::string_view name;
    std::string_view placeholder;
    std::string does;
    Need need;
    std::optional<std::string>* target;
  };
  /// "--set NAME=VALUE", as often as one likes.
  struct List {
    std::string_view name;
    std::string_view placeholder;
    std::string does;
    std::vector<std::string>* target;
  };
  /// "--json".
  struct Switch {
    std::string_view name;
    std::string_view does;
    bool* target;
  };

  /// "-- COMMAND…": everything behind a `--`, as it stands there. At most one, and required.
  struct Rest {
    std::string_view name;
    std::string_view does;
    std::vector<std::string>* target;
  };

  void Add(Argument argument) { arguments_.push_back(argument); }
  void Add(Value value) { values_.push_back(std::move(value)); }
  void Add(List list) { lists_.push_back(std::move(list)); }
  void Add(Switch one) { switches_.push_back(one); }
  void Add(Rest rest) { rest_ = rest; }

  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<List>& lists() const { return lists_; }
  const std::vector<Switch>& switches() const { return switches_; }
  const std::optional<Rest>& rest() const { return rest_; }

 private:
  std::vector<Argument> arguments_;
  std::vector<Value> values_;
  std::vector<List> lists_;
  std::vector<Switch> switches_;
  std::optional<Rest> rest_;
};

}  // namespace tenure::app
