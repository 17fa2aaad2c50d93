#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// A request body that must be one JSON object, read strictly: each field is asked for by name and
/// type, every fault is collected with the field's name, and `Finish` throws them all at once
/// (400), with unknown and repeated fields among them.
///
///   JsonFields fields(request.body);                 // throws 400 when it is no JSON object
///   put.user = fields.Uuid("userObjectId");
///   put.kind = fields.Integer("sessionKind", 1, 3);
///   fields.Finish();                                 // throws 400 when anything was wrong
///
/// The parser is one per thread and is reused; a JsonFields must be gone before the next is made.
class JsonFields {
 public:
  /// REQUIRES: Request::kBodyPadding readable bytes behind `body`.
  explicit JsonFields(std::string_view body);
  ~JsonFields();
  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  base::Uuid Uuid(std::string_view name);
  std::int64_t Integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::string Text(std::string_view name, std::size_t max_bytes);

  void Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The query string of a list or a GET, read the same way: known names only, each at most once.
class QueryFields {
 public:
  explicit QueryFields(std::string_view query);

  std::optional<base::Uuid> Uuid(std::string_view name);
  std::optional<std::int64_t> Integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<bool> Flag(std::string_view name);
  std::optional<std::string> Text(std::string_view name, std::size_t max_bytes);

  void Finish();

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool asked = false;
  };
  Parameter* Take(std::string_view name);
  void Wrong(std::string_view name, std::string message);

  std::vector<Parameter> parameters_;
  std::vector<FieldError> errors_;
};

}  // namespace tenure::http
