#include "base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "base/mutex.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"

namespace tenure::base {
namespace {

struct Settings {
  std::atomic<LogLevel> least{LogLevel::kInfo};
  LogFormat format = LogFormat::kText;  // constant once other threads exist
  std::string instance;                 // constant once other threads exist
  base::Mutex mutex;
  std::shared_ptr<const LogSink> sink TENURE_GUARDED_BY(mutex);
};

Settings& TheSettings() {
  static Settings settings;
  return settings;
}

thread_local LogSource* the_source = nullptr;

/// Adds what the thread works on, unless the line says it already.
void Append(const LogContext& context, std::vector<LogField>& fields) {
  for (const LogField& field :
       {LogField("request_id", context.request_id), LogField("client", context.client),
        LogField("trace_id", context.trace_id)}) {
    const bool is_empty = std::get<std::string_view>(field.value).empty();
    if (!is_empty && std::ranges::find(fields, field.key, &LogField::key) == fields.end())
      fields.push_back(field);
  }
}

std::string JsonLine(LogLevel level, std::string_view event, std::string_view message,
                     std::span<const LogField> fields) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("time").Time(SystemClock().WallMs());
  json.Field("level", ToText(level)).Field("event", event).Field("message", message);
  for (const LogField& field : fields) {
    json.Key(field.key);
    std::visit([&](const auto& value) { json.Value(value); }, field.value);
  }
  json.Field("instance", std::string_view(TheSettings().instance)).EndObject();
  return line;
}

/// A value on a line of text: what somebody sent can neither begin another line or value nor speak
/// to the terminal.
std::string ShownValue(const LogField& field) {
  std::string text = Printable(ToText(field));
  if (text.find_first_of(" =\"") == std::string::npos) return text;
  std::string quoted;
  JsonWriter(quoted).Value(std::string_view(text));
  return quoted;
}

std::string TextLine(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  std::string line = UtcText(SystemClock().WallMs());
  line += fmt::format(" {:<5} {}", ToText(level), Printable(message));
  for (const LogField& field : fields) line += fmt::format("  {}={}", field.key, ShownValue(field));
  return line;
}

std::shared_ptr<const LogSink> TheSink() {
  Settings& settings = TheSettings();
  const base::Lock lock(settings.mutex);
  return settings.sink;
}

}  // namespace

std::string_view ToText(LogLevel level) {
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

std::string ToText(const LogField& field) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, field.value);
}

void SetLogSink(LogSink sink) {
  Settings& settings = TheSettings();
  const base::Lock lock(settings.mutex);
  settings.sink = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
}

void ConfigureLog(LogLevel least, LogFormat format, std::string instance) {
  Settings& settings = TheSettings();
  settings.least = least;
  settings.format = format;
  settings.instance = std::move(instance);
}

void SetLogLevel(LogLevel least) { TheSettings().least = least; }

LogScope::LogScope(LogSource& source) : outer_(std::exchange(the_source, &source)) {}
LogScope::~LogScope() { the_source = outer_; }

void Log(LogLevel level, std::string_view event, std::string_view message,
         std::initializer_list<LogField> fields) {
  const Settings& settings = TheSettings();
  if (level < settings.least.load(std::memory_order_relaxed)) return;
  const LogContext context = the_source ? the_source->log_context() : LogContext();
  std::vector<LogField> all(fields);
  Append(context, all);
  if (const auto sink = TheSink()) return (*sink)(level, event, message, all);
  std::string line = settings.format == LogFormat::kJson ? JsonLine(level, event, message, all)
                                                         : TextLine(level, message, all);
  line.push_back('\n');
  // A log that cannot be written must not stop the server; there is nowhere to report it either.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tenure::base
