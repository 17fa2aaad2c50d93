#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "db/method.hpp"

namespace tenure::webhooks {

/// What is known of a hook: when a delivery of it was stored last, and when it said that it is there.
/// 0: never.
struct Hook {
  std::string source{};
  std::string hook{};
  std::int64_t delivered_ms = 0;
  std::int64_t pinged_ms = 0;
};
/// Webhooks of a source whose signature was none of it.
struct SourceRefusals {
  std::string source{};
  std::int64_t count = 0;
};

struct NoteHooksRequest {
  std::vector<Hook> hooks{};              ///< each once, in ascending order
  std::vector<SourceRefusals> refused{};  ///< the same

  std::size_t bytes() const { return 200 * (hooks.size() + refused.size()); }
};
struct NoteHooksReply {};
/// Lock order: hooks in ascending order, then refusals; nothing else.
void NoteHooks(db::Transaction& tx, db::Items<NoteHooksRequest, NoteHooksReply> items);

struct HooksRequest {
  std::vector<std::string> sources{};

  std::size_t bytes() const { return db::BytesOf(sources); }
};
struct HooksReply {
  std::vector<Hook> hooks{};
  std::vector<SourceRefusals> refused{};
};
void ReadHooks(db::Transaction& tx, db::Items<HooksRequest, HooksReply> items);

/// What this process saw of hooks, until it is written down: no webhook waits for that, and none
/// writes a row that others write too. What was not written yet is lost with the process.
/// Threads: any.
class HookNotes {
 public:
  static constexpr std::size_t kMaxHooks = 1'000;

  void Delivered(const std::string& source, const std::string& hook, std::int64_t now_ms);
  void Pinged(const std::string& source, const std::string& hook, std::int64_t now_ms);
  /// Whoever did not sign has no hook.
  void Refused(const std::string& source);

  /// What there is to write; afterwards there is nothing.
  NoteHooksRequest Take();
  /// It could not be written.
  void PutBack(const NoteHooksRequest& taken);

 private:
  struct Times {
    std::int64_t delivered_ms = 0;
    std::int64_t pinged_ms = 0;
  };
  Times* Find(const std::string& source, const std::string& hook) TENURE_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Times> hooks_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> refused_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::webhooks
