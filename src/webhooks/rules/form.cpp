#include "webhooks/rules/form.hpp"

#include "webhooks/rules/hex.hpp"

namespace tenure::webhooks::rules {

std::optional<std::string> PayloadOfForm(std::string_view form) {
  constexpr std::string_view kField = "payload=";
  if (!form.starts_with(kField)) return std::nullopt;
  form.remove_prefix(kField.size());
  std::string payload;
  payload.reserve(form.size());
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '&') return std::nullopt;
    if (form[i] == '+') {
      payload += ' ';
    } else if (form[i] != '%') {
      payload += form[i];
    } else {
      if (form.size() - i < 3) return std::nullopt;
      const auto high = HexDigit(form[i + 1]);
      const auto low = HexDigit(form[i + 2]);
      if (!high || !low) return std::nullopt;
      payload += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  return payload;
}

}  // namespace tenure::webhooks::rules
