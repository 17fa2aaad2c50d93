#include "app/acts_by_hand.hpp"

#include "audit/by_hand.hpp"
#include "base/json_writer.hpp"

namespace tenure::app {

using base::JsonWriter;

void RecordMigrations(db::Maintenance& maintenance, const std::vector<db::Migration>& applied) {
  db::Deed deed;
  JsonWriter json(deed.detail);
  json.BeginObject().Field("program", TENURE_VERSION).Key("migrations").BeginArray();
  for (const db::Migration& migration : applied) json.Value(std::string_view(migration.name));
  json.EndArray().EndObject();
  audit::RecordByHand(maintenance, "store.migrate", deed);
}

void RecordSettings(db::Maintenance& maintenance, const db::SettingChanges& changes) {
  db::Deed deed;
  JsonWriter json(deed.detail);
  json.BeginObject();
  for (const db::SettingChange& change : changes) {
    json.Key(change.name).BeginObject().Key("old");
    if (change.from)
      json.Value(std::string_view(*change.from));
    else
      json.Null();
    json.Field("new", std::string_view(change.to)).EndObject();
  }
  json.EndObject();
  audit::RecordByHand(maintenance, "config.apply", deed);
}

void RecordIncarnation(db::Maintenance& maintenance, std::int64_t incarnation) {
  db::Deed deed;
  JsonWriter(deed.detail).BeginObject().Field("incarnation", incarnation).EndObject();
  audit::RecordByHand(maintenance, "store.new_incarnation", deed);
}

}  // namespace tenure::app
