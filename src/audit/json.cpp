#include "audit/json.hpp"

#include "base/json_writer.hpp"

namespace tenure::audit {
namespace {

using base::JsonWriter;

void WriteEntry(JsonWriter& json, const Entry& entry) {
  json.BeginObject().Field("sequence", entry.sequence);
  json.Key("at").Time(entry.at_ms);
  json.Field("tenant", std::string_view(entry.tenant))
      .Field("person", std::string_view(entry.person))
      .Field("address", std::string_view(entry.address))
      .Field("request_id", std::string_view(entry.request_id))
      .Field("act", std::string_view(entry.act))
      .Field("object", std::string_view(entry.object));
  json.Key("detail").Raw(entry.detail).EndObject();
}

}  // namespace

std::string ListJson(const ListReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const Entry& entry : reply.entries) WriteEntry(json, entry);
  json.EndArray().Key("next_cursor");
  if (reply.has_more)
    json.Value(ToText(Place{reply.entries.back().at_ms, reply.entries.back().sequence}));
  else
    json.Null();
  json.EndObject();
  return out;
}

}  // namespace tenure::audit
