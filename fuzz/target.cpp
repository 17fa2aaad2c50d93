#include "target.hpp"

#include <simdjson.h>

#include "base/utf8.hpp"

namespace tenure::fuzz {

void CheckRefusal(const http::ProblemError& error, int status) {
  const http::Response response = http::ToResponse(error.problem(), "fuzz");
  TENURE_CHECK(response.status == status, "bad input is refused with another status than it is to");
  TENURE_CHECK(base::IsStorableText(response.body), "a refusal is not UTF-8");
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  TENURE_CHECK(parser.parse(response.body).get(object) == simdjson::SUCCESS,
               "a refusal is no JSON object");
}

}  // namespace tenure::fuzz
