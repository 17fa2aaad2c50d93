#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace tenure::cli {

/// The command line is wrong: exit code 2, and a pointer to the command's help.
class UsageError : public base::UserError {
 public:
  using base::UserError::UserError;
};

struct Flag;

/// What is made of a value: the text as it is sent. Throws UsageError that names the flag.
using Check = std::function<std::string(const Flag& flag, const std::string& text)>;

/// Where the names of things are listed that a value may be: for completion.
struct Names {
  std::string_view path = {};  ///< "{}" in it is what is there of the name already; empty: nowhere
  std::string_view field = "name";  ///< of each of `items`
};

/// One thing that a command accepts behind its words: a row of its table. From these rows come the
/// parser, the help page, the completion, and (by `field`) the request.
struct Flag {
  enum class Kind {
    kArgument,   ///< "ID", required
    kArguments,  ///< "[ID…]", any number of them
    kValue,      ///< "--user UUID"
    kMaybe,      ///< "--watch[=2s]": the placeholder is its value when none is given
    kList,       ///< "--set NAME=VALUE", as often as one likes
    kSwitch,     ///< "--json"
    kRest,       ///< "-- COMMAND…": everything behind a `--`, as it stands there; required
  };

  Kind kind = Kind::kValue;
  std::string_view name;
  std::string_view placeholder;  ///< of a value or a list
  std::string does;
  Check check;            ///< none: any text
  bool required = false;  ///< of a value
  std::string_view field =
      {};                ///< of the query of a look, of the body of an act; empty: of neither
  bool is_json = false;  ///< in a body the value stands as it is, not as a string
  Names names = {};

  Flag As(std::string_view its_field) && {
    field = its_field;
    return std::move(*this);
  }
  Flag Named(const Names& where) && {
    names = where;
    return std::move(*this);
  }
  Flag AsJson(std::string_view its_field) && {
    is_json = true;
    return std::move(*this).As(its_field);
  }
};
using Flags = std::vector<Flag>;

inline Flag Argument(std::string_view name, std::string does, Check check = {}) {
  return {Flag::Kind::kArgument, name, {}, std::move(does), std::move(check)};
}
inline Flag Arguments(std::string_view name, std::string does, Check check = {}) {
  return {Flag::Kind::kArguments, name, {}, std::move(does), std::move(check)};
}
inline Flag Value(std::string_view name, std::string_view placeholder, std::string does,
                  Check check = {}) {
  return {Flag::Kind::kValue, name, placeholder, std::move(does), std::move(check)};
}
inline Flag Required(std::string_view name, std::string_view placeholder, std::string does,
                     Check check = {}) {
  return {Flag::Kind::kValue, name, placeholder, std::move(does), std::move(check), true};
}
inline Flag Values(std::string_view name, std::string_view placeholder, std::string does,
                   Check check = {}) {
  return {Flag::Kind::kList, name, placeholder, std::move(does), std::move(check)};
}
inline Flag Switch(std::string_view name, std::string does) {
  return {Flag::Kind::kSwitch, name, {}, std::move(does), {}};
}
inline Flag Rest(std::string_view name, std::string does) {
  return {Flag::Kind::kRest, name, {}, std::move(does), {}};
}

/// `front` with the rows of `back` behind it.
template <class Row>
std::vector<Row> operator+(std::vector<Row> front, const std::vector<Row>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

struct Console;

/// What somebody gave: the values of flags and arguments by their names, as their checks left them.
class Given {
 public:
  bool Has(std::string_view name) const { return values_.contains(name); }
  /// Null when it was not given.
  const std::string* Find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second.front();
  }
  std::string Or(std::string_view name, std::string_view otherwise) const {
    const std::string* const text = Find(name);
    return text ? *text : std::string(otherwise);
  }
  /// REQUIRES: it was given, as a required flag is.
  const std::string& Text(std::string_view name) const {
    return values_.find(name)->second.front();
  }
  /// Of a list, of arguments, of the rest.
  std::vector<std::string> All(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
  }

  /// REQUIRES: `values` is not empty. A switch has one empty text.
  void Set(std::string_view name, std::vector<std::string> values) {
    values_[std::string(name)] = std::move(values);
  }

  /// Who is told where an act happens, and asked whether it is meant (Server::Ask). Null: nobody.
  const Console* console() const { return console_; }
  void SetConsole(const Console& console) { console_ = &console; }

 private:
  const Console* console_ = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// What the arguments behind the command's words give; nothing when somebody asked for help
/// instead. Throws UsageError.
std::optional<Given> ParseFlags(const Flags& flags, std::vector<std::string> arguments);

// How the values of flags must look. Each throws UsageError that names the flag.

/// A UUID, in its usual spelling.
std::string Uuid(const Flag& flag, const std::string& text);
/// A time of RFC 3339.
std::string Time(const Flag& flag, const std::string& text);
/// One of the words that the placeholder names: "free|held|broken".
std::string Word(const Flag& flag, const std::string& text);
/// One JSON value.
std::string Json(const Flag& flag, const std::string& text);
/// A whole number, in its usual spelling.
Check Number(std::int64_t least, std::int64_t most);
/// A duration, "30s"; what is sent is its milliseconds.
struct DurationBounds {
  std::int64_t least_ms = 0;
  std::int64_t most_ms = 0;
};
Check Duration(const DurationBounds& bounds);

/// The number of a value that `Number` or `Duration` has checked.
std::int64_t ToNumber(const std::string& checked);

/// `text` as it may stand in the path or the query of a URL.
std::string PercentEncoded(std::string_view text);

}  // namespace tenure::cli
