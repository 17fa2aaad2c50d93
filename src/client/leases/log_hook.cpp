#include "base/log.hpp"
#include "tenure/log.hpp"

namespace tenure {

void SetLogHook(std::function<void(const LogLine&)> hook) {
  if (!hook) return base::SetLogSink({});
  base::SetLogSink([hook = std::move(hook)](base::LogLevel level, std::string_view event,
                                            std::string_view message,
                                            std::span<const base::LogField> fields) {
    LogLine line{base::ToText(level), event, message, {}};
    for (const base::LogField& field : fields)
      line.fields.emplace_back(field.key, base::ToText(field));
    try {
      hook(line);
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nowhere else to say it
    }
  });
}

}  // namespace tenure
