#pragma once

#include <cstdint>
#include <string_view>

namespace tenure::base {

/// Hashes texts that strangers choose (SipHash-2-4): without the key nobody can find two texts with
/// the same hash, or one that lands in a given place of a table. Constant; any thread.
class KeyedHash {
 public:
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };

  KeyedHash();  ///< with a random key of its own
  explicit KeyedHash(Key key) : key_(key) {}

  std::uint64_t operator()(std::string_view text) const;

 private:
  Key key_;
};

}  // namespace tenure::base
