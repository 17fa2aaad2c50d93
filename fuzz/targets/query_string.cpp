// http::QueryFields: everything that a list or a GET asks a query string for.
//
// What must hold: a value that is given is within the bounds that were asked for and is storable
// text; whatever is refused is refused with an answer that can be read.

#include "base/utf8.hpp"
#include "http/json_fields.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

constexpr std::size_t kMaxTextBytes = 20;

void Read(std::string_view query) {
  http::QueryFields fields(query);
  fields.Uuid("userObjectId");
  fields.Flag("includeEnded");
  if (const auto limit = fields.Integer("limit", 1, 1'000))
    TENURE_CHECK(*limit >= 1 && *limit <= 1'000, "a number beyond its bounds is let through");
  fields.Integer("any", INT64_MIN, INT64_MAX);
  if (const auto text = fields.Text("cursor", kMaxTextBytes)) {
    TENURE_CHECK(text->size() <= kMaxTextBytes, "a text beyond its bound is let through");
    TENURE_CHECK(base::IsStorableText(*text), "a text that cannot be stored is let through");
  }
  fields.Finish();
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tenure::fuzz::Read(tenure::fuzz::AsText(data, size));
  } catch (const tenure::http::ProblemError& error) {
    tenure::fuzz::CheckRefusal(error);
  }
  return 0;
}
