#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/uuid.hpp"
#include "sink/record.hpp"

namespace tenure::usage {

/// Recomputes what sessions used from nothing but what the API tells, and compares (U1, U2). A
/// second implementation on purpose: it shares no code with the server's own arithmetic, so that
/// the two must agree.
///
/// The formula: W(t) = sum over factor periods of (active ms up to t in that period x
/// factor in millionths), C(t) = floor(W(t) / 2,592,000,000), a window's usage is
/// C(end) - C(start). Whole numbers of 128 bits; floored once.
///
/// Life: first all windows (newest first), factors and sessions; then all records of each window;
/// then `Conclude`; then, where there is a receiver, what it has for each session and
/// `ConcludeReceiver`.
///
/// It may run while the server works. Nothing lands in a closed window: a session that starts or
/// ends after the windows were listed does so behind the last of them. So whoever lists the windows
/// first may take his time with the rest.
class Recount {
 public:
  struct Window {
    std::int64_t number = 0;
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    bool acknowledged = false;  ///< the receiver has taken all of it
  };
  struct Factor {
    int kind = 1;
    std::int64_t from_ms = 0;
    std::int64_t millionths = 0;
  };
  struct MeteredSession {
    base::Uuid id{};
    base::Uuid user{};
    base::Uuid tenant{};
    base::Uuid capacity{};
    int kind = 1;
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;  ///< planned, of one that is active
  };
  /// Whether the receiver must have a record by now.
  enum class Delivered { kYes, kPerhaps };

  void AddWindow(const Window& window);
  /// In ascending order of time for each kind.
  void AddFactor(const Factor& factor);
  void AddSession(const MeteredSession& session);

  /// The records of this window and of those before it are not to be had any more.
  void ForgetUpTo(std::int64_t window);
  /// Of a window that was added.
  void AddRecord(const sink::Record& record, Delivered delivered);
  /// Of a window that was closed meanwhile: the receiver may have it already.
  void AddLaterRecord(const sink::Record& record);
  void Conclude();

  void AddReceived(const base::Uuid& session, std::int64_t micros);
  void ConcludeReceiver(std::int64_t conflicts);

  /// The oldest and the newest. REQUIRES: there are any.
  const Window& first() const { return windows_.back(); }
  const Window& last() const { return windows_.front(); }
  const std::vector<Window>& windows() const { return windows_; }
  std::size_t sessions() const { return sessions_.size(); }
  std::int64_t records() const { return records_; }
  std::int64_t micros() const { return micros_; }
  std::int64_t received_micros() const { return received_micros_; }

  /// What does not agree, in sentences; the first hundred.
  const std::vector<std::string>& differences() const { return differences_; }
  std::int64_t difference_count() const { return difference_count_; }

 private:
  static constexpr int kKinds = 3;

  struct Account {
    MeteredSession session{};
    std::int64_t micros = 0;  ///< of its records
    std::int64_t records = 0;
    std::int64_t last_window = 0;     ///< of the last record; each window may bring one
    std::int64_t least_received = 0;  ///< what the receiver must have
    std::int64_t most_received = 0;   ///< what it may have
    std::int64_t received = 0;
  };

  void Differ(std::string sentence);
  /// No window has been removed yet, so nothing that the receiver has can be older.
  bool IsWhole() const { return !windows_.empty() && first().number == 1; }
  const Window* FindWindow(std::int64_t number) const;
  std::int64_t MicrosUntil(const MeteredSession& session, std::int64_t t_ms) const;
  std::int64_t WindowsOf(const MeteredSession& session) const;
  void CheckRecord(const sink::Record& record, const Account& account);
  Account* AccountOf(const sink::Record& record);

  std::vector<Window> windows_;  // newest first, without a gap
  std::array<std::vector<Factor>, kKinds> factors_;
  std::unordered_map<base::Uuid, Account> sessions_;
  std::int64_t records_ = 0;
  std::int64_t micros_ = 0;
  std::int64_t received_micros_ = 0;
  std::vector<std::string> differences_;
  std::int64_t difference_count_ = 0;
};

}  // namespace tenure::usage
