#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tenure/clock.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::holder {

using leases::Milliseconds;

/// Told whenever a call begins: until when it should have ended.
using Expectation = std::function<void(std::int64_t overdue_ms)>;

/// A session with the provider, for one caller after another. A session promises to answer in time;
/// a line sees to it: a call that is overdue is cancelled by the watchdog, and the next call gets a
/// new session.
///
/// Threads: `Use` by one at a time; the rest by any.
class Line {
 public:
  Line(leases::Provider& provider, const Clock& clock, Expectation expect)
      : provider_(provider), clock_(clock), expect_(std::move(expect)) {}

  /// Calls `call(session)`, which should take no longer than `limit`.
  template <class Call>
  auto Use(Milliseconds limit, const Call& call) {
    const InUse use(*this, limit);
    return call(*use.session);
  }

  /// A call under way ends soon with ProviderUnavailable. Without one, nothing happens.
  void Cancel();
  /// The same where the call should have ended before `now_ms`.
  void CancelOverdue(std::int64_t now_ms);
  /// When the call under way will be overdue; kNever: there is none.
  std::int64_t overdue_ms() const;
  /// Like Cancel, and every later call fails at once.
  void Close();

 private:
  struct InUse {
    InUse(Line& its_line, Milliseconds limit) : line(its_line), session(its_line.Begin(limit)) {}
    ~InUse() { line.End(); }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    Line& line;
    std::shared_ptr<leases::Session> session;
  };
  std::shared_ptr<leases::Session> Begin(Milliseconds limit);
  void End();
  void CancelLocked();

  leases::Provider& provider_;
  const Clock& clock_;
  const Expectation expect_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<leases::Session> session_;
  std::int64_t overdue_ms_ = kNever;
  bool cancelled_ = false;  // the session is of no use any more
  bool closed_ = false;
};

/// The lines of the callers of a manager: as many as call at one time, since one that waits for a
/// lease occupies its line. A few stay open for the next callers.
///
/// Threads: any.
class Lines {
 public:
  Lines(leases::Provider& provider, const Clock& clock, Expectation expect)
      : provider_(provider), clock_(clock), expect_(std::move(expect)) {}

  /// A line for the caller alone until `Return`.
  std::shared_ptr<Line> Borrow();
  void Return(std::shared_ptr<Line> line);

  /// A line that belongs to one caller for good; it is watched like the others.
  std::shared_ptr<Line> Dedicate();

  void CancelOverdue(std::int64_t now_ms);
  std::int64_t NextOverdueMs() const;
  /// Every call under way ends soon, later ones fail.
  void Close();

 private:
  std::shared_ptr<Line> Make();
  std::vector<std::shared_ptr<Line>> Live() const;

  static constexpr std::size_t kMostIdle = 4;

  leases::Provider& provider_;
  const Clock& clock_;
  const Expectation expect_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<Line>> idle_;
  std::vector<std::weak_ptr<Line>> all_;
  bool closed_ = false;
};

/// A borrowed line, returned at the end of its scope.
class BorrowedLine {
 public:
  explicit BorrowedLine(Lines& lines) : lines_(lines), line_(lines.Borrow()) {}
  ~BorrowedLine() { lines_.Return(std::move(line_)); }
  BorrowedLine(const BorrowedLine&) = delete;
  BorrowedLine& operator=(const BorrowedLine&) = delete;
  Line* operator->() { return line_.get(); }

 private:
  Lines& lines_;
  std::shared_ptr<Line> line_;
};

}  // namespace tenure::holder
