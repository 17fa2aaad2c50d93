#include "api/openapi.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "api/answer_schema.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using Complaint = std::vector<std::string>;

std::string ReadSource(const std::string& name) {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) throw std::runtime_error("TENURE_SOURCE_DIR is not set");
  std::ifstream file(std::string(source) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

/// What holds for every answer, whatever it answers (spec 60: no CORS headers, no cookies).
void CheckAlways(const HttpResponse& response, Complaint& complaints) {
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

}  // namespace

OpenApi::OpenApi() : text_(ReadSource("openapi.json")), document_(Json::Parse(text_)) {}

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

Complaint OpenApi::Complaints(std::string_view method, std::string_view target,
                              const HttpResponse& response) const {
  const auto patterns = PatternsOf(target);
  if (patterns.empty()) {
    Complaint complaints = ProblemComplaints(response);
    if (response.status != 404 && response.status != 403)
      complaints.emplace_back("a path that is not documented is not found");
    return complaints;
  }
  if (response.status == 405) return ProblemComplaints(response);

  Complaint complaints;
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
                            const HttpResponse& response, Complaint& complaints) const {
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

Complaint OpenApi::ProblemComplaints(const HttpResponse& response) const {
  Complaint complaints;
  CheckAlways(response, complaints);
  if (ContentType(response) != "application/problem+json")
    complaints.emplace_back("the answer is no problem document");
  else if (!response.body.empty())
    CheckAgainstSchema(response.Json(), document_["components"]["schemas"]["Problem"], document_,
                       complaints);
  return complaints;
}

}  // namespace tenure::api
