#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenure::webhooks::rules {

/// A key as a bots file writes it: text with `{path}` for a value of the payload, or `{$event}`,
/// `{$action}`, `{$entity}`, `{$repository}`.
///
/// Two inputs never get one key: values are percent-encoded, so they have none of the characters
/// that stand between them; between two values there is at least one such character.
class KeyTemplate {
 public:
  /// The template, or what is wrong with it.
  static std::variant<KeyTemplate, std::string> Parse(std::string_view text);

  /// What a placeholder's value is: of "$entity" and "$repository" a key, of everything else a
  /// value that is encoded already. Nothing: the rule does not apply.
  using Lookup = std::function<std::optional<std::string>(std::string_view placeholder)>;
  std::optional<std::string> Render(const Lookup& lookup) const;

  const std::string& text() const { return text_; }

  friend bool operator==(const KeyTemplate& left, const KeyTemplate& right) {
    return left.text_ == right.text_;
  }

 private:
  struct Part {
    bool placeholder = false;
    std::string text;
  };

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace tenure::webhooks::rules
