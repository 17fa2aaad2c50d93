#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::push {

/// Keeps secrets unreadable in the store and in its backups (AES-256-GCM).
///
/// A key file has a line "id:base64 of 32 bytes" per key; empty lines and those that begin with '#'
/// are nothing. The first key seals, all of them open: so a key is changed by putting a new one on
/// top, and removed when nothing is sealed by it any more (`Vault::IsCurrent`).
///
/// Sealed text is "id:base64" of nonce, cipher text and tag. What it belongs to (`context`) is
/// authenticated with it: a sealed text that is copied into another row does not open there.
///
/// Constant; any thread.
class Vault {
 public:
  /// Throws base::UserError that names the line, and never quotes a key.
  static Vault Parse(std::string_view text);
  /// The same of a file, which its owner alone may read.
  static Vault Load(const std::string& path);

  std::string Seal(std::string_view secret, std::string_view context) const;
  /// Nothing: it is no sealed text, its key is not there, or it was changed.
  std::optional<std::string> Open(std::string_view sealed, std::string_view context) const;

  /// Whether it was sealed by the first key.
  bool IsCurrent(std::string_view sealed) const;
  /// What begins everything that the first key sealed.
  std::string Prefix() const { return keys_.front().id + ":"; }

 private:
  struct Key {
    std::string id{};
    std::array<std::uint8_t, 32> bytes{};
  };
  std::vector<Key> keys_;
};

}  // namespace tenure::push
