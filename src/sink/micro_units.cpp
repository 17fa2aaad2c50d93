#include "sink/micro_units.hpp"

#include "base/decimal.hpp"

namespace tenure::sink {

std::optional<std::int64_t> ParseMicros(std::string_view text) {
  const auto micros = base::ParseMillionths(text);
  return micros && base::MillionthsText(*micros) == text ? micros : std::nullopt;
}

}  // namespace tenure::sink
