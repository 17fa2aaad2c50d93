#include "overview/board.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "overview/attention.hpp"

namespace tenure::overview {
namespace {

using base::JsonWriter;

void WriteConcern(JsonWriter& json, const explain::Concern& concern) {
  json.BeginObject()
      .Field("name", concern.name)
      .Field("severity", concern.severity == explain::Severity::kCritical ? "critical" : "warning")
      .Field("sentence", std::string_view(concern.sentence));
  json.Key("since").TimeOrNull(concern.since_ms);
  const auto text = [&](std::string_view key, const std::string& value) {
    json.Key(key);
    value.empty() ? json.Null() : json.Value(std::string_view(value));
  };
  text("link", concern.link);
  text("command", concern.command);
  json.EndObject();
}

void WriteFigures(JsonWriter& json, const Board& board) {
  json.Key("figures").BeginObject();
  for (const auto& [part, figures] : board.figures) {
    json.Key(part).BeginObject();
    for (const explain::Figure& each : figures) json.Field(each.name, each.value);
    json.EndObject();
  }
  json.EndObject().Key("capped").BeginArray();
  for (const auto& [part, figures] : board.figures)
    for (const explain::Figure& each : figures)
      if (each.capped) json.Value(std::string_view(fmt::format("{}.{}", part, each.name)));
  json.EndArray();
}

}  // namespace

std::string RestOfBoard(const Board& board, const http::Principal& asker, bool day) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("counted_at").TimeOrNull(board.counted_ms);
  WriteFigures(json, board);
  json.Key("attention").BeginArray();
  for (const explain::Concern& each : TellTo(asker, board.concerns)) WriteConcern(json, each);
  json.EndArray().Key("instances").BeginArray();
  for (const Instance& each : board.instances) WriteInstance(json, each);
  json.EndArray().Key("series").Raw(day ? board.day : board.hour).EndObject();
  return body.substr(1);
}

std::string InstancesJson(const Board& board) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const Instance& each : board.instances) WriteInstance(json, each);
  json.EndArray().EndObject();
  return body;
}

}  // namespace tenure::overview
