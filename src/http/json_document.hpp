#pragma once

#include <string_view>

#include <simdjson.h>

namespace tenure::http {

/// More levels than any request of ours has; it bounds every recursion over a document.
inline constexpr std::size_t kMaxJsonDepth = 32;
/// How much of a foreign name is shown in an answer.
inline constexpr std::size_t kMaxShownNameBytes = 100;

/// A body that is one JSON object. The parser is one per thread and is reused; it keeps the memory
/// of its largest document, which the body limit bounds.
///
/// The only header that shows simdjson: for json_fields.cpp.
class JsonDocument {
 public:
  /// Throws ProblemError 400 when the body is anything else.
  /// REQUIRES: Request::kBodyPadding readable bytes behind `body`; the document of this thread
  /// before it is gone.
  explicit JsonDocument(std::string_view body);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const simdjson::dom::object& root() const { return root_; }

 private:
  simdjson::dom::object root_;
};

/// "an array", "a string": for messages.
std::string_view TypeName(simdjson::dom::element_type type);

}  // namespace tenure::http
