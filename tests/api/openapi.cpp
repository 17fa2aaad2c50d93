#include "api/openapi.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "support/process.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using Texts = std::vector<std::string>;

std::string InCase(std::string_view text, int (*change)(int)) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return out;
}

/// Whether `path` is `pattern` with something in place of each {placeholder}.
bool Fits(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = pattern.substr(0, pattern.find('/', 1));
    const std::string_view segment = path.substr(0, path.find('/', 1));
    if (!wanted.starts_with("/{") ? wanted != segment : segment == "/") return false;
    pattern.remove_prefix(wanted.size());
    path.remove_prefix(segment.size());
  }
  return pattern.empty() && path.empty();
}

/// Without parameters such as a charset.
std::string ContentType(const HttpResponse& response) {
  const std::string type = response.FindHeader("Content-Type").value_or("");
  return type.substr(0, type.find(';'));
}

/// What holds for every answer, whatever it answers: no CORS headers, no cookies.
void CheckAlways(const HttpResponse& response, Texts& complaints) {
  for (const auto& [name, value] : response.headers) {
    const std::string lower = InCase(name, std::tolower);
    if (lower.starts_with("access-control-") || lower == "set-cookie")
      complaints.push_back("an answer never has the header " + name);
  }
  const auto id = response.FindHeader("X-Request-Id");
  if (!id) complaints.emplace_back("X-Request-Id is missing");
  const bool is_problem = ContentType(response) == "application/problem+json";
  if (!is_problem || response.body.empty()) return;
  const Json problem = response.Json();
  if (problem["status"].Int() != response.status)
    complaints.emplace_back("the problem's status is not the answer's");
  if (id && problem["request_id"].Text() != *id)
    complaints.emplace_back("the problem's request_id is not X-Request-Id");
}

/// What `$ref` points to in `document`, or `described` itself.
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

/// Stricter than the standard: ids in small letters, times in UTC with milliseconds.
bool HasFormat(const std::string& text, const std::string& format) {
  static const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  static const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  if (format == "uuid") return std::regex_match(text, uuid);
  if (format == "date-time") return std::regex_match(text, time);
  return true;
}

class Checker {
 public:
  Checker(const Json& document, Texts& complaints) : document_(document), complaints_(complaints) {}

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
    Texts all;
    for (const Json& choice : choices.Elements()) {
      Texts against;
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
        schema.Has("additionalProperties") && schema["additionalProperties"].Dump() == "false";
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
  Texts& complaints_;
};

/// Checks a value against the part of JSON Schema that openapi.json uses: type, enum, required,
/// properties, additionalProperties, items, format. Adds what is wrong, with the way to it.
void CheckAgainstSchema(const Json& value, const Json& schema, const Json& document,
                        Texts& complaints) {
  Checker(document, complaints).Check(value, schema, "$");
}

}  // namespace

OpenApi::OpenApi()
    : text_(support::ReadFile(support::SourceDir() / "openapi.json")),
      document_(Json::Parse(text_)) {}

const OpenApi& OpenApi::OfTheSource() {
  static const OpenApi document;
  return document;
}

std::vector<std::string> OpenApi::Paths() const { return document_["paths"].Keys(); }

std::vector<OpenApi::Operation> OpenApi::Operations() const {
  std::vector<Operation> operations;
  for (const std::string& path : Paths())
    for (const std::string& method : document_["paths"][path].Keys())
      if (method != "parameters") operations.push_back({InCase(method, std::toupper), path});
  return operations;
}

std::vector<std::string> OpenApi::MethodsOf(const std::string& path) const {
  std::vector<std::string> methods;
  for (const Operation& operation : Operations())
    if (Fits(operation.path, path)) methods.push_back(operation.method);
  if (std::ranges::find(methods, "GET") != methods.end()) methods.emplace_back("HEAD");
  return methods;
}

std::vector<std::string> OpenApi::PatternsOf(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string> patterns;
  for (const std::string& pattern : Paths())
    if (Fits(pattern, path)) patterns.push_back(pattern);
  std::stable_partition(patterns.begin(), patterns.end(),
                        [&](const std::string& one) { return one == path; });
  return patterns;
}

Texts OpenApi::Complaints(std::string_view method, std::string_view target,
                          const HttpResponse& response) const {
  const auto patterns = PatternsOf(target);
  if (patterns.empty()) {
    Texts complaints = ProblemComplaints(response);
    if (response.status != 404 && response.status != 403)
      complaints.emplace_back("a path that is not documented is not found");
    return complaints;
  }
  if (response.status == 405) return ProblemComplaints(response);

  Texts complaints;
  CheckAlways(response, complaints);
  const std::string name = method == "HEAD" ? "get" : InCase(method, std::tolower);
  const auto path = std::ranges::find_if(
      patterns, [&](const std::string& one) { return document_["paths"][one].Has(name); });
  if (path == patterns.end()) {
    complaints.push_back("the method is not documented for " + patterns.front());
    return complaints;
  }
  const Json responses = document_["paths"][*path][name]["responses"];
  const std::string status = std::to_string(response.status);
  if (!responses.Has(status))
    complaints.push_back("the status is not documented for " + *path);
  else
    CheckResponse(Resolve(responses[status], document_), method, response, complaints);
  return complaints;
}

void OpenApi::CheckResponse(const Json& described, std::string_view method,
                            const HttpResponse& response, Texts& complaints) const {
  if (described.Has("headers"))
    for (const std::string& header : described["headers"].Keys())
      if (!response.FindHeader(header))
        complaints.push_back("the header " + header + " is missing");
  if (!described.Has("content")) {
    if (!response.body.empty()) complaints.emplace_back("a body where none is documented");
    return;
  }
  const std::string type = ContentType(response);
  if (!described["content"].Has(type)) {
    complaints.push_back("the content type " + type + " is not documented");
    return;
  }
  if (method == "HEAD" || type == "text/plain") return;
  CheckAgainstSchema(response.Json(), described["content"][type]["schema"], document_, complaints);
}

Texts OpenApi::ProblemComplaints(const HttpResponse& response) const {
  Texts complaints;
  CheckAlways(response, complaints);
  if (ContentType(response) != "application/problem+json")
    complaints.emplace_back("the answer is no problem document");
  else if (!response.body.empty())
    CheckAgainstSchema(response.Json(), document_["components"]["schemas"]["Problem"], document_,
                       complaints);
  return complaints;
}

}  // namespace tenure::api
