// http::JsonFields: a body, asked for every type of field, in the body itself and in the objects of
// an array.
//
// What must hold:
//  1. A value that is given is within its bounds, and its text can be stored.
//  2. What is kept of a value (`Object`, `OptionalValue`) is JSON again and stays as it is when it
//     is kept once more: a payload does not change on its way through two servers.
//  3. The text of a value as it came (`OptionalJson`) is that value's, not a neighbour's.
//  4. Whatever is refused is refused with an answer that can be read.

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/json_fields.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

using http::JsonFields;
using http::JsonObject;

constexpr std::size_t kMaxBytes = 40;
constexpr std::size_t kMaxItems = 4;
constexpr std::size_t kMaxKeptBytes = 1 << 20;

/// A value both as it is kept and as it came.
struct Kept {
  std::string compact;
  std::string text;
};

void CheckText(const std::string& text) {
  TENURE_CHECK(text.size() <= kMaxBytes, "a text beyond its bound is let through");
  TENURE_CHECK(base::IsStorableText(text), "a text that cannot be stored is let through");
}

/// The value named "v". A document must be gone before the next, so checks on it come later.
void ReadValue(JsonObject& fields, std::vector<Kept>& kept) {
  auto compact = fields.OptionalValue("v", kMaxKeptBytes);
  auto text = fields.OptionalJson("v", kMaxKeptBytes);
  if (compact && text) kept.push_back({*std::move(compact), *std::move(text)});
}

/// Each type under a name of its own, and each also for the field "x", whatever that is.
void ReadEveryType(JsonObject& fields) {
  for (const std::string_view wild : {"", "x"}) {
    const auto name = [&](std::string_view own) { return wild.empty() ? own : wild; };
    if (fields.Has(name("id"))) fields.Uuid(name("id"));
    fields.OptionalUuid(name("id"));
    fields.OptionalUuids(name("ids"), kMaxItems);
    if (const auto number = fields.OptionalInteger(name("number"), -5, 1'000))
      TENURE_CHECK(*number >= -5 && *number <= 1'000, "a number beyond its bounds is let through");
    fields.OptionalFlag(name("flag"));
    if (const auto text = fields.OptionalText(name("text"), kMaxBytes)) CheckText(*text);
    if (const auto time = fields.OptionalTime(name("time")))
      TENURE_CHECK(*time >= 0, "a time before 1970 is let through");
    if (const auto bytes = fields.OptionalBytes(name("bytes"), kMaxBytes))
      TENURE_CHECK(bytes->size() <= kMaxBytes, "bytes beyond their bound are let through");
    if (const auto object = fields.OptionalObject(name("object"), kMaxBytes)) CheckText(*object);
    fields.TextInside(name("object"), "text");
    if (fields.Has(name("texts"))) fields.Texts(name("texts"), kMaxItems, kMaxBytes);
    fields.IsNull(name("nothing"));
  }
}

void CheckKept(const Kept& kept) {
  TENURE_CHECK(base::IsStorableText(kept.compact), "what is kept is no text that can be stored");
  for (const std::string& text : {kept.compact, kept.text}) {
    const PaddedBody body(fmt::format("{{\"v\":{}}}", text));
    std::optional<std::string> again;
    try {
      JsonFields fields(body.view());
      again = fields.OptionalValue("v", kMaxKeptBytes);
      fields.Finish();
    } catch (const http::ProblemError&) {
      TENURE_CHECK(false, "what is kept is no JSON any more");
    }
    TENURE_CHECK(again == kept.compact, "what is kept is another value than what came");
  }
}

std::vector<Kept> Read(std::string_view json) {
  const PaddedBody body(json);
  std::vector<Kept> kept;
  JsonFields fields(body.view());
  ReadValue(fields, kept);
  ReadEveryType(fields);
  if (fields.Has("list"))
    fields.Objects("list", kMaxItems, [&](JsonObject& element) {
      ReadValue(element, kept);
      ReadEveryType(element);
    });
  try {
    fields.Finish();
  } catch (const http::ProblemError& error) {
    CheckRefusal(error);
  }
  return kept;
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& kept : tenure::fuzz::Read(tenure::fuzz::AsText(data, size)))
      tenure::fuzz::CheckKept(kept);
  } catch (const tenure::http::ProblemError& error) {
    tenure::fuzz::CheckRefusal(error);
  }
  return 0;
}
