#include "db/param.hpp"

#include "base/error.hpp"

namespace tenure::db {

std::size_t ItemCount(std::span<const Param> params) {
  std::optional<std::size_t> count;
  for (const Param& param : params) {
    const auto length = std::visit(
        [](const auto& value) -> std::optional<std::size_t> {
          if constexpr (requires { value.size_bytes(); }) return value.size();
          return std::nullopt;
        },
        param);
    if (!length) continue;
    TENURE_CHECK(!count || *count == *length, "columns of one query differ in length");
    count = length;
  }
  return count.value_or(1);
}

}  // namespace tenure::db
