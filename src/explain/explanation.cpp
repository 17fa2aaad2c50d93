#include "explain/explanation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/utf8.hpp"

namespace tenure::explain {
namespace {

using base::JsonWriter;

bool IsPlain(char byte, std::string_view more) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || more.find(byte) != std::string_view::npos;
}

void WriteCause(JsonWriter& json, const Cause& cause) {
  json.BeginObject().Field("code", cause.code).Field("text", std::string_view(cause.text));
  if (cause.since_ms > 0) json.Key("since").Time(cause.since_ms);
  if (cause.until_ms > 0) json.Key("until").Time(cause.until_ms);
  if (!cause.link.empty()) json.Field("link", std::string_view(cause.link));
  json.EndObject();
}

void WriteAction(JsonWriter& json, const Action& action, const http::Principal& asker) {
  json.BeginObject()
      .Field("act", action.act)
      .Field("title", std::string_view(action.title))
      .Field("scope", action.scope)
      .Field("allowed", !asker.tenant || asker.Has(action.scope))
      .Field("danger", action.danger)
      .Field("method", action.method)
      .Field("path", std::string_view(action.path));
  json.Key("body").Raw(action.body);
  json.Field("command", std::string_view(action.command)).EndObject();
}

}  // namespace

std::string Explanation::Sentence() const {
  std::string sentence;
  for (const Cause& cause : because) {
    if (!sentence.empty()) sentence += ' ';
    sentence += cause.text;
  }
  return sentence;
}

std::string ToJson(const Explanation& explanation, const http::Principal& asker) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject()
      .Field("kind", explanation.kind)
      .Field("id", std::string_view(explanation.id))
      .Field("state", std::string_view(explanation.state))
      .Field("sentence", std::string_view(explanation.Sentence()));
  json.Key("because").BeginArray();
  for (const Cause& cause : explanation.because) WriteCause(json, cause);
  json.EndArray().Key("next").BeginObject();
  json.Field("text", std::string_view(explanation.next.text));
  if (explanation.next.at_ms > 0) json.Key("at").Time(explanation.next.at_ms);
  json.EndObject().Key("actions").BeginArray();
  for (const Action& action : explanation.actions) WriteAction(json, action, asker);
  json.EndArray().Field("docs", explanation.docs).EndObject();
  return body;
}

std::string Shown(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char byte) { return byte == '\n' || byte == '\r' || byte == '\t'; }, ' ');
  return base::Printable(line);
}

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", Shown(text)); }

std::string Word(std::string_view text) {
  const std::string shown = Shown(text);
  if (!shown.empty() && shown.front() != '-' &&
      std::ranges::all_of(shown, [](char byte) { return IsPlain(byte, "._:/@-"); }))
    return shown;
  std::string word = "'";
  for (const char byte : shown) word += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return word + "'";
}

std::string Segment(std::string_view text) {
  std::string segment;
  for (const char byte : text) {
    if (IsPlain(byte, "-._~"))
      segment += byte;
    else
      segment += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return segment;
}

std::string Counted(std::int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? std::string(one) : fmt::format("{} {}", count, many);
}

}  // namespace tenure::explain
