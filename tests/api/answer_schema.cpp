#include "api/answer_schema.hpp"

#include <algorithm>
#include <regex>

namespace tenure::api {
namespace {

using support::Json;
using Complaints = std::vector<std::string>;

std::string TypeOf(const Json& value) {
  const std::string text = value.Dump();
  switch (text.front()) {
    case '{':
      return "object";
    case '[':
      return "array";
    case '"':
      return "string";
    case 't':
    case 'f':
      return "boolean";
    case 'n':
      return "null";
    default:
      return text.find_first_of(".eE") == std::string::npos ? "integer" : "number";
  }
}

bool HasType(const Json& value, const Json& types) {
  const std::string type = TypeOf(value);
  const auto matches = [&](const Json& wanted) {
    return wanted.Text() == type || (wanted.Text() == "number" && type == "integer");
  };
  if (TypeOf(types) == "string") return matches(types);
  return std::ranges::any_of(types.Elements(), matches);
}

/// Stricter than the standard: ids in small letters, times in UTC with milliseconds (spec 10).
bool HasFormat(const std::string& text, const std::string& format) {
  static const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  static const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  if (format == "uuid") return std::regex_match(text, uuid);
  if (format == "date-time") return std::regex_match(text, time);
  return true;
}

class Checker {
 public:
  Checker(const Json& document, Complaints& complaints)
      : document_(document), complaints_(complaints) {}

  void Check(const Json& value, const Json& described, const std::string& way) {
    const Json schema = Resolve(described, document_);
    if (schema.Has("oneOf")) return CheckOneOf(value, schema["oneOf"], way);
    if (schema.Has("type") && !HasType(value, schema["type"])) {
      Complain(way, "is " + TypeOf(value) + ", not " + schema["type"].Dump());
      return;
    }
    CheckValue(value, schema, way);
    const std::string type = TypeOf(value);
    if (type == "object") CheckObject(value, schema, way);
    if (type == "array" && schema.Has("items"))
      for (std::size_t i = 0; i < value.Size(); ++i)
        Check(value[i], schema["items"], way + "[" + std::to_string(i) + "]");
  }

 private:
  /// Exactly one of them fits; when none does, what each has against it.
  void CheckOneOf(const Json& value, const Json& choices, const std::string& way) {
    std::size_t fitting = 0;
    Complaints all;
    for (const Json& choice : choices.Elements()) {
      Complaints against;
      Checker(document_, against).Check(value, choice, way);
      fitting += against.empty() ? 1 : 0;
      all.insert(all.end(), against.begin(), against.end());
    }
    if (fitting > 1) Complain(way, "fits more than one of what it may be");
    if (fitting == 0) complaints_.insert(complaints_.end(), all.begin(), all.end());
  }

  void CheckValue(const Json& value, const Json& schema, const std::string& way) {
    if (schema.Has("enum")) {
      const auto allowed = schema["enum"].Elements();
      if (std::ranges::none_of(allowed,
                               [&](const Json& one) { return one.Dump() == value.Dump(); }))
        Complain(way, value.Dump() + " is none of " + schema["enum"].Dump());
    }
    if (schema.Has("format") && TypeOf(value) == "string" &&
        !HasFormat(value.Text(), schema["format"].Text()))
      Complain(way, value.Dump() + " is no " + schema["format"].Text());
  }

  void CheckObject(const Json& value, const Json& schema, const std::string& way) {
    if (schema.Has("required"))
      for (const Json& name : schema["required"].Elements())
        if (!value.Has(name.Text())) Complain(way, name.Text() + " is missing");
    if (!schema.Has("properties")) return;
    const bool closed =
        schema.Has("additionalProperties") && !schema["additionalProperties"].Bool();
    for (const std::string& name : value.Keys()) {
      if (schema["properties"].Has(name))
        Check(value[name], schema["properties"][name], way + "." + name);
      else if (closed)
        Complain(way, name + " is not documented");
    }
  }

  void Complain(const std::string& way, const std::string& what) {
    complaints_.push_back(way + ": " + what);
  }

  const Json& document_;
  Complaints& complaints_;
};

}  // namespace

Json Resolve(const Json& described, const Json& document) {
  if (!described.Has("$ref")) return described;
  std::string way = described["$ref"].Text();  // "#/components/schemas/Session"
  Json found = document;
  for (auto slash = way.find('/'); slash != std::string::npos; slash = way.find('/')) {
    way.erase(0, slash + 1);
    found = found[way.substr(0, way.find('/'))];
  }
  return Resolve(found, document);
}

void CheckAgainstSchema(const Json& value, const Json& schema, const Json& document,
                        Complaints& complaints) {
  Checker(document, complaints).Check(value, schema, "$");
}

}  // namespace tenure::api
