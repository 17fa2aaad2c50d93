#include "base/log.hpp"

#include <unistd.h>

#include <atomic>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::base {
namespace {

struct Settings {
  std::atomic<LogLevel> least{LogLevel::kInfo};
  LogFormat format = LogFormat::kText;  // constant once other threads exist
  std::string instance;                 // constant once other threads exist
};

Settings& TheSettings() {
  static Settings settings;
  return settings;
}

std::string_view LevelText(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string JsonLine(LogLevel level, std::string_view event, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("time").Time(SystemClock().WallMs());
  json.Field("level", LevelText(level)).Field("event", event).Field("message", message);
  for (const LogField& field : fields) {
    json.Key(field.key);
    std::visit([&](const auto& value) { json.Value(value); }, field.value);
  }
  json.Field("instance", std::string_view(TheSettings().instance)).EndObject();
  return line;
}

std::string TextLine(LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line = UtcText(SystemClock().WallMs());
  line += fmt::format(" {:<5} {}", LevelText(level), message);
  for (const LogField& field : fields) {
    line += fmt::format("  {}=", field.key);
    std::visit([&](const auto& value) { line += fmt::format("{}", value); }, field.value);
  }
  return line;
}

}  // namespace

void ConfigureLog(LogLevel least, LogFormat format, std::string instance) {
  Settings& settings = TheSettings();
  settings.least = least;
  settings.format = format;
  settings.instance = std::move(instance);
}

void SetLogLevel(LogLevel least) { TheSettings().least = least; }

void Log(LogLevel level, std::string_view event, std::string_view message,
         std::initializer_list<LogField> fields) {
  const Settings& settings = TheSettings();
  if (level < settings.least.load(std::memory_order_relaxed)) return;
  std::string line = settings.format == LogFormat::kJson ? JsonLine(level, event, message, fields)
                                                         : TextLine(level, message, fields);
  line.push_back('\n');
  // A log that cannot be written must not stop the server; there is nowhere to report it either.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tenure::base
