#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tenure::base {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat {
  kJson,  ///< one JSON object per line
  kText,  ///< for a terminal
};

/// One named value of a log line. Never a payload, never a secret.
struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, bool> value;

  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, const std::string& text)
      : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, bool flag) : key(name), value(flag) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) LogField(std::string_view name, I number)
      : key(name), value(static_cast<std::int64_t>(number)) {}
};

/// What a line belongs to; what is empty does not stand in it.
struct LogContext {
  std::string_view request_id{};
  std::string_view client{};  ///< where the request came from
  std::string trace_id{};
};

/// Something that a thread works on for a while. It is asked only when a line is written.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual LogContext log_context() = 0;
};

/// While it lives, the lines that this thread writes belong to `source`. Scopes may nest; the
/// innermost counts. Setting one up costs two words of the thread's own memory.
class LogScope {
 public:
  /// `source` outlives it.
  explicit LogScope(LogSource& source);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  LogSource* const outer_;
};

/// Set once at start, before other threads exist. `instance` ("host:pid:random") stands in every
/// JSON line.
void ConfigureLog(LogLevel least, LogFormat format, std::string instance);

/// Changes the least level while running (SIGHUP).
void SetLogLevel(LogLevel least);

/// Where lines go instead of standard error, if anywhere; empty: there again. It gets what the line
/// is made of, on any thread, and must not throw.
using LogSink = std::function<void(LogLevel level, std::string_view event, std::string_view message,
                                   std::span<const LogField> fields)>;
void SetLogSink(LogSink sink);
/// "warn"; and a field's value as a line has it.
std::string_view ToText(LogLevel level);
std::string ToText(const LogField& field);

/// Writes one line to standard error with one write(2), so lines of several threads never mix.
/// `event` is a stable dotted name ("sessions.expired"), `message` is the sentence for a person.
void Log(LogLevel level, std::string_view event, std::string_view message,
         std::initializer_list<LogField> fields = {});

inline void LogInfo(std::string_view event, std::string_view message,
                    std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, event, message, fields);
}
inline void LogWarn(std::string_view event, std::string_view message,
                    std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarn, event, message, fields);
}
inline void LogError(std::string_view event, std::string_view message,
                     std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, event, message, fields);
}

}  // namespace tenure::base
