#include "usage/json.hpp"

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"

namespace tenure::usage {
namespace {

using base::JsonWriter;

std::string_view StateOf(const WindowView& view) {
  switch (view.window.state) {
    case WindowState::kClosed:
      return "closed";
    case WindowState::kEmitting:
      return "emitting";
    case WindowState::kEmitted:
      return view.unsent_records > 0 ? "sending" : "sent";
  }
  return "";
}

void WriteFactor(JsonWriter& json, const Factor& factor) {
  json.BeginObject().Field("sessionKind", factor.kind);
  json.Field("factor", std::string_view(base::MillionthsText(factor.millionths)));
  json.Key("fromUtc").Time(factor.from_ms);
  json.EndObject();
}

}  // namespace

std::string WindowsJson(const WindowsReply& reply, bool with_counts) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const WindowView& view : reply.windows) {
    json.BeginObject().Field("window", view.window.number);
    json.Key("windowStartUtc").Time(view.window.start_ms);
    json.Key("windowEndUtc").Time(view.window.end_ms);
    json.Key("sealedUtc").Time(view.window.sealed_ms);
    json.Field("state", StateOf(view));
    if (with_counts) {
      json.Key("records");
      if (view.window.state == WindowState::kEmitted)
        json.Value(view.window.records);
      else
        json.Null();
      json.Field("unsentRecords", view.unsent_records)
          .Field("refusedRecords", view.refused_records);
    }
    json.EndObject();
  }
  json.EndArray().Key("nextCursor");
  if (reply.has_more)
    json.Value(std::string_view(fmt::to_string(reply.windows.back().window.number)));
  else
    json.Null();
  json.EndObject();
  return out;
}

std::string RecordsPageJson(const RecordsReply& reply) {
  const Material& material = *reply.material;
  std::string out = "{\"items\":";
  out += RecordsJson(material);
  out += ",\"nextCursor\":";
  if (reply.has_more)
    JsonWriter(out).Value(material.sessions.back().id);
  else
    out += "null";
  out += '}';
  return out;
}

std::string TotalsJson(const TotalsReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject()
      .Field("fromWindow", reply.span.from->number)
      .Field("toWindow", reply.span.to->number);
  json.Key("fromUtc").Time(reply.span.from->start_ms);
  json.Key("toUtc").Time(reply.span.to->end_ms);
  json.Field("sessions", reply.sessions);
  json.Key("usage").Raw(base::MillionthsText(reply.micros));
  json.Field("complete", reply.is_complete).EndObject();
  return out;
}

std::string FactorsJson(const FactorsReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const Factor& factor : reply.factors) WriteFactor(json, factor);
  json.EndArray().Key("nextCursor").Null().EndObject();
  return out;
}

std::string FactorJson(const Factor& factor) {
  std::string out;
  JsonWriter json(out);
  WriteFactor(json, factor);
  return out;
}

std::string RefusedJson(const RefusedReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const Refused& refused : reply.refused) {
    json.BeginObject()
        .Field("recordId", std::string_view(fmt::format("{}-{}", refused.name.number,
                                                        refused.session.ToString())))
        .Field("window", refused.name.number)
        .Field("sessionId", refused.session);
    json.Key("refusedUtc").Time(refused.refused_ms);
    json.Field("answer", std::string_view(refused.answer)).EndObject();
  }
  json.EndArray().Key("nextCursor");
  if (reply.has_more)
    json.Value(std::string_view(ToText(reply.refused.back().name)));
  else
    json.Null();
  json.EndObject();
  return out;
}

}  // namespace tenure::usage
