#pragma once

#include <cstddef>

namespace tenure::db {

/// Which of a store's lanes carries out the operations of a handler (store.hpp).
class LaneName {
 public:
  enum class Kind { kReading, kOfKey, kShared, kUserKeys, kNeverWaits };

  /// For looks: any of the lanes that only read.
  static constexpr LaneName Reading() { return {Kind::kReading, 0}; }
  /// The write lane of the operation's key: operations of one key are decided in order of arrival,
  /// and within a process no two batches hold the same key.
  static constexpr LaneName OfKey() { return {Kind::kOfKey, 0}; }
  /// One write lane for all operations of the handler: larger batches, and they never meet each
  /// other's locks. Kinds with different numbers do not wait for each other, where the store has
  /// so many lanes.
  static constexpr LaneName Shared(std::size_t number) { return {Kind::kShared, number}; }
  /// For inserts with unique keys that users chose (a dedup key, an idempotency key): one of them
  /// may have to wait for a user's own transaction, which must not hold up anybody else.
  static constexpr LaneName UserKeys() { return {Kind::kUserKeys, 0}; }
  /// For renewals that wait for no lock: a lane without statements that could, so that nobody's
  /// deadline passes behind somebody else's lock. The lane of the key where the store has none.
  static constexpr LaneName NeverWaits() { return {Kind::kNeverWaits, 0}; }

  constexpr Kind kind() const { return kind_; }
  constexpr std::size_t number() const { return number_; }

 private:
  constexpr LaneName(Kind kind, std::size_t number) : kind_(kind), number_(number) {}

  Kind kind_;
  std::size_t number_;
};

}  // namespace tenure::db
