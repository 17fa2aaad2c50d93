#include "messages/json.hpp"

#include "base/json_writer.hpp"

namespace tenure::messages {

std::string EnqueuedJson(const EnqueueReply& reply) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject();
  if (reply.messages.size() == 1) {
    json.Field("id", reply.messages.front().id);
    if (reply.messages.front().duplicate) json.Field("duplicate", true);
    json.EndObject();
    return out;
  }
  json.Key("ids").BeginArray();
  for (const EnqueuedMessage& each : reply.messages) json.Value(each.id);
  json.EndArray();
  bool any = false;
  for (const EnqueuedMessage& each : reply.messages) {
    if (!each.duplicate) continue;
    if (!any) json.Key("duplicates").BeginArray();
    any = true;
    json.Value(each.id);
  }
  if (any) json.EndArray();
  json.EndObject();
  return out;
}

db::Answer EnqueueAnswer(const EnqueueResult& result) {
  return {201, EnqueuedJson(result.reply), "", true};
}

}  // namespace tenure::messages
